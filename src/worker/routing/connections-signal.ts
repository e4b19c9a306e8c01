/** The "crons" by which the local runner tells whether the server has many connections. Nothing else fires them. */
export const MANY_CONNECTIONS = "many-connections";
export const FEW_CONNECTIONS = "few-connections";
