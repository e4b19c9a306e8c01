/** The "cron" by which the local runner has the identity Lease of the cluster `default` renewed without a request. Nothing else fires it. */
export const RENEW_IDENTITY = "renew-identity";
