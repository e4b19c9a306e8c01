/**
 * All rules of a cluster from one object: its store of ClusterRoles follows the three other stores of roles and bindings, and answers with one text.
 *
 * These three tell it before they commit a change of an object. So it knows without a call that what it has, in memory or on disk, is whole. A write
 * that cannot be told is refused. Telling waits for nobody there, so that it never waits for a question of the same object to the teller.
 */

/** All rules at the time of the question. `length`: of the texts of all their objects, in characters. */
export type PolicyAnswer = PolicyContents & {
  length: number;
  /** this question has found the cluster without default roles of this release, and has made them */
  begun?: boolean;
};

type PolicyContents =
  /** the text of the version that was named */
  | { kind: "unchanged" }
  /** `text`: see CompiledPolicy; no longer than the texts of the objects. `version`: the digest of the text */
  | { kind: "policy"; version: string; text: string }
  /** the objects are too large together to decide by */
  | { kind: "tooLarge" };

/** A store of ClusterRoles; other stores refuse. */
export interface PolicyRpc {
  /**
   * Everything that was committed before the call. Rejects with RULES_UNREAD while a store does not answer.
   *
   * @param version of the text that the caller has; "" = none
   */
  policySince(version: string): Promise<PolicyAnswer>;
  /** Adds what is missing of the default roles and bindings; true = something was missing. Rejects as `policySince` does. */
  ensureDefaults(): Promise<boolean>;
  /**
   * Told by the store of this resource before it commits a change. From now on that store is asked, until it says that no such change is under way. It
   * is known durably when this resolves.
   */
  rulesChanging(resource: string): Promise<void>;
}

/** What the store of ClusterRoles compiles the rules by. */
export interface CompilingRules extends PolicyRpc {
  /** in the transaction of a change of the own store */
  ownChanged(): void;
  /** such a transaction, or a part of one, was undone */
  ownUndone(): void;
}

/** The error text of a question about the rules, followed by the cause, while a store of roles or bindings does not answer. */
export const RULES_UNREAD = "a store of roles or bindings does not answer";
