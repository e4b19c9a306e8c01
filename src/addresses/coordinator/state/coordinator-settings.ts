/** What the server's variables say about the topology of every cluster. */
export interface CoordinatorSettings {
  /** canonical texts of SERVICE_CLUSTER_IP_RANGE, primary family first: the prefixes of the default ServiceCIDR */
  defaultRanges: readonly string[];
  /** set = the gate MultiCIDRServiceAllocator is off: only these prefixes give out addresses, whatever ServiceCIDR objects exist */
  onlyRanges?: readonly string[];
  /** the gate ServiceIPStaticSubrange */
  staticBands: boolean;
}
