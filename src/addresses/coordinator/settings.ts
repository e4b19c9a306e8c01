/** What the variables of the server say about the topology of every cluster. */
export interface CoordinatorSettings {
  /** canonical texts of SERVICE_CLUSTER_IP_RANGE, primary family first: the prefixes of the default ServiceCIDR */
  defaultRanges: readonly string[];
  /** the gate MultiCIDRServiceAllocator is off: these prefixes alone give out addresses, whatever objects there are */
  onlyRanges?: readonly string[];
  /** the gate ServiceIPStaticSubrange */
  staticBands: boolean;
}
