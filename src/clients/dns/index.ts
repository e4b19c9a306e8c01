/** Names of Services as a file of hosts. */
export { followHosts } from "./follow-hosts";
export { HOSTS_MARK } from "./hosts-text";
