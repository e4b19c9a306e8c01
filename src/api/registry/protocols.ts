/** The protocols of a port, in the order in which upstream's messages name them (k8s.io/api core/v1 Protocol). */
export const PROTOCOLS = ["SCTP", "TCP", "UDP"];
