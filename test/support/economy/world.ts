/** A cluster in which operations are measured: the whole Worker with access by tokens, real objects, and all controllers. */
import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { sqlStoreStorage } from "../../../durable-objects/sql/store-sql";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { forgetPolicy } from "../../../src/worker/access/policies";
import { forgetCluster, knownIdOf } from "../../../src/worker/routing/known-clusters";
import { newestStored } from "../worlds/stored-history";
import { AccessWorld, type AskOptions } from "../access/access-world";
import { countedCalls } from "../objects/counted-calls";
import { Economy } from "./meter";
import { holdLateAlarms } from "./late-alarms";

const bindings = env as unknown as Env;
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const CONTENT_TYPES: Readonly<Record<string, string>> = { PATCH: "application/merge-patch+json" };

/** The time limit of such a test. It measures again what a busy machine has made dearer. */
export const SLOW_MACHINE_MS = 120_000;

export class EconomyWorld {
  // The log of a quick test is nobody's.
  readonly #access = new AccessWorld({ AUDIT_POLICY: "writes=None,reads=None" });
  readonly #before: Partial<Env> = {};
  readonly economy = new Economy(`${this.cluster}/`);
  #ringLateAlarms: (() => void) | undefined;

  get cluster(): string {
    return this.#access.cluster;
  }

  /** What the Worker runs with. It keeps the configuration of the variables that it has met, so the bindings of all tests are not for it. */
  get env(): Env {
    return this.#access.env;
  }

  /** Objects read the variables when they start, and other tests have no access control: without it some controllers are off. */
  async begin(): Promise<this> {
    for (const name of ["AUTHORIZATION_MODE", "ADMIN_TOKEN_HASHES"] as const) {
      Object.assign(this.#before, { [name]: bindings[name] });
      Object.assign(bindings, { [name]: this.#access.env[name] });
    }
    await abortAllDurableObjects();
    this.#ringLateAlarms = await holdLateAlarms();
    await this.#access.begin();
    return this;
  }

  /** Takes back what tests have replaced, too. */
  async end(): Promise<void> {
    vi.restoreAllMocks();
    this.#ringLateAlarms?.();
    for (const [name, value] of Object.entries(this.#before)) {
      if (value === undefined) Reflect.deleteProperty(bindings, name);
      else Object.assign(bindings, { [name]: value });
    }
    await abortAllDurableObjects();
  }

  /** As administrator unless a token is given. Throws unless it succeeds. A PATCH is a merge patch. */
  async send<T = KubeObject>(method: string, path: string, body?: object, options: AskOptions = {}): Promise<T> {
    return sent<T>(this.#access, method, path, body, options);
  }

  tokenOf(user: string): Promise<string> {
    return this.#access.tokenOf(user);
  }

  /** A token of somebody whom a ClusterRole gives these verbs of Services. */
  async tokenToServices(...verbs: readonly string[]): Promise<string> {
    const apiGroup = "rbac.authorization.k8s.io";
    await this.send("POST", `${RBAC}/clusterroles`, {
      metadata: { name: "user" },
      rules: [{ apiGroups: [""], resources: ["services"], verbs }],
    });
    await this.send("POST", `${RBAC}/clusterrolebindings`, {
      metadata: { name: "bob" },
      roleRef: { apiGroup, kind: "ClusterRole", name: "user" },
      subjects: [{ apiGroup, kind: "User", name: "bob" }],
    });
    return this.tokenOf("bob");
  }

  /** Time stands until the end: no rule ages while the machine is busy. The result sets it, by what has passed since. */
  stopTime(): (passedMs: number) => void {
    const begun = Date.now();
    const clock = vi.spyOn(Date, "now").mockReturnValue(begun);
    return (passedMs) => void clock.mockReturnValue(begun + passedMs);
  }

  /** Everything that earlier steps caused has ended. */
  async settle(): Promise<void> {
    for (let looks = 0; looks < 20; looks++) if ((await countedCalls(() => Promise.resolve())).length === 0) return;
    throw new Error("the objects do not come to rest");
  }

  /** The history of a store goes, as when its bounds are reached; the newest entry stays. */
  async trim(store: DurableObjectStub): Promise<void> {
    await runInDurableObject(store, (_, { storage }) => {
      const rows = sqlStoreStorage(storage);
      rows.historyTrim(0, newestStored(rows) - 1);
    });
  }

  /** All objects are asleep. The result is an isolate that knows nothing of the deployment. */
  async asleep(): Promise<{ send: EconomyWorld["send"] }> {
    await this.settle();
    return this.sleep();
  }

  /** The same for objects that have come to rest. */
  async sleep(): Promise<{ send: EconomyWorld["send"] }> {
    await abortAllDurableObjects();
    forgetPolicy(knownIdOf(this.#access.env, this.cluster));
    forgetCluster(this.#access.env, this.cluster);
    const access = Object.assign(new AccessWorld(), { cluster: this.cluster });
    return { send: (method, path, body, options) => sent(access, method, path, body, options) };
  }
}

async function sent<T>(access: AccessWorld, method: string, path: string, body?: object, options: AskOptions = {}): Promise<T> {
  const headers = { "Content-Type": CONTENT_TYPES[method] ?? "application/json" };
  const answer = await access.ask(method, path, { ...(body ? { body, headers } : {}), ...options });
  if (answer.code >= 300) throw new Error(`${method} ${path}: ${String(answer.code)} ${JSON.stringify(answer.body)}`);
  return answer.body as T;
}
