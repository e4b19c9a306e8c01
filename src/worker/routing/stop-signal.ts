/** The "cron" by which the local runner asks the Worker to end its watches before it stops. Nothing else fires it. */
export const END_WATCHES = "end-watches";
