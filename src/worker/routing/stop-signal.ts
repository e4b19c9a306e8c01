/** The "cron" by which the local runner asks the Worker to end its watches before it stops. Nothing else fires it. */
export const END_WATCHES = "end-watches";
/** The "cron" by which the runner has every request refused: the data was removed under the server. */
export const REFUSE_REQUESTS = "refuse-requests";
