/**
 * How the labels of namespaces come to the store of Services, where ranges are kept for the Services of some namespaces. The store of Services asks to be
 * told, and reads a namespace once. From then on the store of Namespaces tells it every change, so that no create asks for labels.
 *
 * A message may come late, twice, or not at all: what is older than what is known changes nothing, and the sender repeats what was not answered.
 */
export interface ToldNamespace {
  name: string;
  /** of the change, in the store of Namespaces */
  revision: number;
  /** null = the namespace is gone */
  labels: Record<string, string> | null;
}

/** The store of Services. */
export interface LabelledStore {
  /**
   * @param changed null = more has changed than can be told: nothing that is known counts any more
   * @returns whether the store wants to be told further changes
   */
  takeNamespaceLabels(changed: ToldNamespace[] | null): Promise<boolean>;
}

/** The store of Namespaces. */
export interface LabelSource {
  /** From now on the store of Services is told changes. Resolves when a death does not change that any more. */
  tellNamespaceLabels(): Promise<void>;
}
