/**
 * A controller of one cluster, named `<cluster>/controllers/<name>`. A poke carries nothing and may be lost (DESIGN §7): it only asks
 * for a pass soon; cron pokes too. A pass that left work asks for the next one by the alarm, with backoff.
 */
import { DurableObject } from "cloudflare:workers";
import { withTimeout } from "../src/base/timeout";
import {
  deleteNamespaces,
  type NamespaceDeletionPorts,
  type TerminatingNamespace,
  withoutFinalizer,
} from "../src/controllers/namespace-deletion";
import type { Namespace } from "../src/meta/kubernetes";
import type { CollectionRequest, ControllerRpc, WriteOptions } from "../src/rpc/store";
import { COLLECTION_HEADER, encodeCollection } from "../src/store/collection-header";
import type { Env } from "./env";
import { contentStores, namespacesStore } from "./peers";
import { systemClock, systemRecorder } from "./ports";
import { IDENTITY_SCHEMA, objectName } from "./sql/identity-sql";
import { migrate } from "./sql/migrate";

const RETRY_BASE_MS = 500;
const RETRY_MAX_MS = 30_000;
/** Emptying a namespace of many objects takes longer than a usual call; what comes late does no harm. */
const CALL_TIMEOUT_MS = 60_000;

const OPTIONS: WriteOptions = {
  dryRun: false,
  fieldManager: "namespace-controller",
  fieldValidation: "Ignore",
  force: false,
  group: "",
  version: "v1",
};

export class Controller extends DurableObject<Env> implements ControllerRpc {
  readonly #cluster: string;
  readonly #recorder;
  #attempt = 0;
  #running: Promise<void> | undefined;
  #pokedMeanwhile = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrate(ctx.storage, [{ id: 1, sql: IDENTITY_SCHEMA }], systemClock.now());
    const name = objectName(ctx);
    this.#cluster = name.slice(0, name.indexOf("/"));
    this.#recorder = systemRecorder({ object: name });
  }

  /** Answers at once; the pass goes on behind it. */
  poke(): Promise<void> {
    this.#attempt = 0;
    this.ctx.waitUntil(this.#pass());
    return Promise.resolve();
  }

  override async alarm(): Promise<void> {
    await this.#pass();
  }

  /** One pass at a time; a poke during a pass asks for another one. Never rejects. */
  #pass(): Promise<void> {
    if (this.#running) {
      this.#pokedMeanwhile = true;
      return this.#running;
    }
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(): Promise<void> {
    do {
      this.#pokedMeanwhile = false;
      let left = true;
      try {
        const status = await deleteNamespaces(this.#ports());
        left = status.seen > status.finished;
      } catch (error) {
        this.#recorder.log("warn", "controller pass failed", { error: String(error) });
      }
      if (left) await this.ctx.storage.setAlarm(systemClock.now() + Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** this.#attempt++));
      else this.#attempt = 0;
    } while (this.#pokedMeanwhile);
  }

  #ports(): NamespaceDeletionPorts {
    const { env } = this;
    const cluster = this.#cluster;
    return {
      recorder: this.#recorder,
      terminating: () => this.#terminating(),
      content: contentStores(env, cluster).map(({ resource, store }) => ({
        resource,
        close: (name, uid) => answered(store().closeNamespace(name, uid)),
        empty: (name, uid) => answered(store().emptyNamespace(name, uid)),
      })),
      finalize: (namespace) => this.#finalize(namespace),
    };
  }

  /** Conflicts reject: the next pass looks at the namespace anew. */
  async #finalize({ name, uid }: TerminatingNamespace): Promise<void> {
    const key = { namespace: "", name };
    const found = await answered(namespacesStore(this.env, this.#cluster).get(key, ""));
    if (!found.ok) {
      if (found.status.code === 404) return;
      throw new Error(found.status.message);
    }
    const namespace = JSON.parse(found.object) as Namespace;
    if (namespace.metadata?.uid !== uid) return;
    const finalized = withoutFinalizer(namespace);
    if (!finalized) return;
    const object = JSON.stringify(finalized);
    const request = { verb: "update", key, subresource: "finalize", object, options: OPTIONS } as const;
    const result = await answered(namespacesStore(this.env, this.#cluster).write(request));
    if (!result.ok && result.status.code !== 404) throw new Error(result.status.message);
  }

  async #terminating(): Promise<TerminatingNamespace[]> {
    const request: CollectionRequest = {
      verb: "list",
      namespace: "",
      labelSelector: "",
      fieldSelector: "status.phase=Terminating",
      limit: 0,
      continueToken: "",
      resourceVersion: "",
      resourceVersionMatch: "",
      allowWatchBookmarks: false,
      sendInitialEvents: false,
      timeoutSeconds: 0,
      group: "",
      version: "v1",
      resource: "namespaces",
      representation: { as: "object" },
    };
    const headers = { [COLLECTION_HEADER]: encodeCollection(request) };
    const response = await answered(namespacesStore(this.env, this.#cluster).fetch(new Request("http://store/collection", { headers })));
    if (!response.ok) throw new Error(`the namespaces store answered ${response.status}`);
    const list = await response.json<{ items?: Namespace[] }>();
    return (list.items ?? []).map(({ metadata }) => ({ name: metadata?.name ?? "", uid: metadata?.uid ?? "" }));
  }
}

function answered<T>(call: Promise<T>): Promise<T> {
  return withTimeout(systemClock, CALL_TIMEOUT_MS, call);
}
