/** The rules of a cluster as an isolate has them: from the object that compiles them, or from the four stores while that is of the release before. */
import { ok, type Result } from "../../core/base/result";
import type { PolicyAnswer } from "../../api/rpc/policy";
import { policyFrom } from "./compiled-policy";
import { FollowedPolicy, type PolicySource, RULES_LENGTH_MAX } from "./followed-policy";
import { Policy } from "./policy";

export interface FetchedPolicySource<E> {
  /** "unsupported": the object is of the release before */
  policySince(version: string): Promise<Result<PolicyAnswer | "unsupported", E>>;
  /** the four stores, as they are asked then */
  stores: PolicySource<E>;
  /** before the stores are asked: makes what is missing of the default roles */
  begin(): Promise<Result<void, E>>;
}

export class FetchedPolicy<E> {
  #policy: Policy | undefined;
  #version = "";
  #length = 0;
  #keptLength = 0;
  /** while the object is of the release before */
  #followed: FollowedPolicy<E, Policy> | undefined;

  /** undefined = the objects are too large to decide by, or nothing has been read */
  get policy(): Policy | undefined {
    return this.#followed ? this.#followed.policy : this.#policy;
  }

  /** of the texts of all objects */
  get length(): number {
    return this.#followed?.length ?? this.#length;
  }

  /** of what is kept */
  get keptLength(): number {
    return this.#followed?.keptLength ?? this.#keptLength;
  }

  /** Takes over everything that was committed before the call. After an error the rules are as before, or as they were on the way. */
  async refresh(source: FetchedPolicySource<E>): Promise<Result<void, E>> {
    const fetched = await source.policySince(this.#version);
    if (!fetched.ok) return fetched;
    if (fetched.value === "unsupported") return this.#followStores(source);
    this.#take(fetched.value);
    return ok(undefined);
  }

  #take(answer: PolicyAnswer): void {
    if (answer.kind === "policy") {
      this.#policy = policyFrom(answer.text);
      this.#version = answer.version;
      this.#keptLength = answer.text.length;
    } else if (answer.kind === "tooLarge") this.#forget();
    this.#length = answer.length;
    this.#followed = undefined;
  }

  async #followStores({ begin, stores }: FetchedPolicySource<E>): Promise<Result<void, E>> {
    const begun = await begin();
    if (!begun.ok) return begun;
    const followed = this.#followed ?? new FollowedPolicy(stores, RULES_LENGTH_MAX, () => new Policy());
    const done = await followed.refresh();
    if (!done.ok) return done;
    this.#followed = followed;
    this.#forget();
    return done;
  }

  #forget(): void {
    this.#policy = undefined;
    this.#version = "";
    this.#keptLength = 0;
  }
}
