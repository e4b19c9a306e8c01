/** With which limits new namespaces of a cluster start: what its record tells the store of Namespaces. */

/** `spec.hard` of a ResourceQuota. */
export type QuotaAmounts = Readonly<Record<string, string>>;

/** `hard`: of the ResourceQuota that a new namespace gets; null = it gets none. A later version counts. */
export interface NamespaceQuotas {
  readonly version: number;
  readonly hard: QuotaAmounts | null;
}

/** The store of Namespaces. */
export interface QuotaSeedingStore {
  /** takes the quotas unless newer ones are known; durable when it answers */
  setNamespaceQuotas(quotas: NamespaceQuotas): Promise<void>;
}
