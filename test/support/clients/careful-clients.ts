/**
 * Clients that know what the server owes them. Each client changes only objects of its own, so it knows what must be stored: the object of the last
 * success. Without an answer, or after a 5xx, the requested object may be stored instead; the client reads it before it goes on. Anything else
 * is a violation of I4.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { WordRandom } from "../../../src/core/base/word-random";
import { pick } from "../sim/platform/seeded-random";
import type { Body } from "./api";

/** The outcome of a request; "cut" = unknown, and the server may be gone. */
export type Outcome = "done" | "refused" | "busy" | "failed" | "cut";

/** A refusal that the client expects; any other 4xx is a violation. */
type Expected = RegExp | undefined;

const MERGE_PATCH = "application/merge-patch+json";
/** names the request that wrote an object */
const ATTEMPT = "example.com/attempt";

export interface Tally {
  /** requests by outcome */
  outcomes: Record<Outcome, number>;
  /** answers other than 2xx and expected refusals, by code and reason */
  failures: Map<string, number>;
  violations: string[];
}

export function newTally(): Tally {
  return { outcomes: { done: 0, refused: 0, busy: 0, failed: 0, cut: 0 }, failures: new Map(), violations: [] };
}

/** One object of one client, there or not. */
export class Held {
  /** the object of the last success; undefined = there is none */
  known: Body | undefined;
  /** its deletion was acknowledged and waits for finalizers */
  leaving = false;
  /** a request of unknown outcome: the mark of what it would have written, or "deletion" */
  doubt: string | undefined;

  constructor(
    readonly collection: string,
    readonly name: string,
  ) {}

  get path(): string {
    return `${this.collection}/${this.name}`;
  }
}

export class CarefulClient {
  readonly held: Held[] = [];
  #serial = 0;

  /** `name` is in the name of every object; `url` is asked for at each request: the server may have been started again. */
  constructor(
    readonly name: string,
    readonly url: () => string,
    readonly tally: Tally,
  ) {}

  holds(collection: string, name: string): Held {
    const held = new Held(collection, name);
    this.held.push(held);
    return held;
  }

  /** POST; `expected` refusals are allowed. */
  create(held: Held, content: Body, expected?: Expected): Promise<Outcome> {
    const mark = this.#mark();
    const body = { ...content, metadata: { ...content.metadata, name: held.name, annotations: { [ATTEMPT]: mark } } };
    return this.#write(held, { method: "POST", path: held.collection, body, mark, expected });
  }

  /** Merge patch of an object that is there. */
  change(held: Held, patch: Body, expected?: Expected): Promise<Outcome> {
    const mark = this.#mark();
    const body = { ...patch, metadata: { ...patch.metadata, annotations: { [ATTEMPT]: mark } } };
    return this.#write(held, { method: "PATCH", path: held.path, body, mark, expected });
  }

  remove(held: Held): Promise<Outcome> {
    return this.#write(held, { method: "DELETE", path: held.path, body: undefined, mark: "deletion", expected: undefined });
  }

  /** Reads the stored object and compares it with the expected one; the object is known afterwards. False when the server did not answer. */
  async settle(held: Held): Promise<boolean> {
    const answer = await this.#send("GET", held.path);
    if (!answer || answer.code >= 500 || answer.code === 429) return false;
    const stored = answer.code === 200 ? answer.body : undefined;
    const wrong = this.#differs(held, stored);
    if (wrong) this.tally.violations.push(`I4: ${held.path} ${wrong}`);
    held.known = stored;
    held.leaving = stored?.metadata?.deletionTimestamp !== undefined;
    held.doubt = undefined;
    return true;
  }

  #mark(): string {
    return `${this.name}-${String(this.#serial++)}`;
  }

  /** The fault of `stored`, or undefined. */
  #differs(held: Held, stored: Body | undefined): string | undefined {
    const { known, leaving, doubt } = held;
    if (!stored) {
      if (!known || leaving || doubt === "deletion") return undefined;
      return `was acknowledged and is gone: ${JSON.stringify(known)}`;
    }
    if (doubt !== undefined && stored.metadata?.annotations?.[ATTEMPT] === doubt) return undefined;
    if (!known) return `is there, and should not be: ${JSON.stringify(stored)}`;
    if (!leaving && doubt !== "deletion" && stored.metadata?.deletionTimestamp) return `is being deleted, and nobody asked for it`;
    if (leaving && !stored.metadata?.deletionTimestamp) return `was deleted and is not being deleted any more`;
    const [is, was] = [essence(stored), essence(known)];
    return is === was ? undefined : `was acknowledged as ${was} and is ${is}`;
  }

  async #write(
    held: Held,
    { method, path, body, mark, expected }: { method: string; path: string; body: Body | undefined; mark: string; expected: Expected },
  ): Promise<Outcome> {
    const answer = await this.#send(method, path, body);
    const outcome = this.#outcome(held, method, answer, expected);
    this.tally.outcomes[outcome]++;
    if (outcome === "cut" || outcome === "failed") held.doubt = mark;
    if (outcome === "done" && answer) {
      const gone = method === "DELETE" && answer.body.metadata?.deletionTimestamp === undefined;
      held.known = gone ? undefined : answer.body;
      held.leaving = !gone && method === "DELETE";
    }
    return outcome;
  }

  #outcome(held: Held, method: string, answer: Answered | undefined, expected: Expected): Outcome {
    if (!answer) return "cut";
    const { code, body, retryAfter } = answer;
    if (code < 300) return "done";
    const message = body.message ?? "";
    if (code < 500 && code !== 429 && expected?.test(message)) return "refused";
    const what = `${String(code)} ${body.reason ?? ""}`;
    this.tally.failures.set(what, (this.tally.failures.get(what) ?? 0) + 1);
    const isStatus = body.kind === "Status" && body.status === "Failure" && body.code === code && message !== "";
    if (!isStatus) this.tally.violations.push(`${method} ${held.path}: ${String(code)} without its Status: ${JSON.stringify(body)}`);
    if ((code === 429 || code === 503) && !(retryAfter > 0 && body.details?.["retryAfterSeconds"] === retryAfter)) {
      this.tally.violations.push(`${method} ${held.path}: ${String(code)} without a time to come back: ${JSON.stringify(body)}`);
    }
    if (code === 429) return "busy";
    if (code >= 500) return "failed";
    this.tally.violations.push(`${method} ${held.path}: ${what} ${message}`);
    return "refused";
  }

  /** undefined: the connection broke before the whole answer came. */
  async #send(method: string, path: string, body?: Body): Promise<Answered | undefined> {
    try {
      const response = await fetch(this.url() + path, {
        method,
        headers: { "Content-Type": method === "PATCH" ? MERGE_PATCH : "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const json = response.headers.get("Content-Type") === "application/json";
      const retryAfter = Number(response.headers.get("Retry-After") ?? 0);
      return { code: response.status, body: json ? (JSON.parse(text) as Body) : { message: text }, retryAfter };
    } catch {
      return undefined;
    }
  }
}

interface Answered {
  code: number;
  body: Body;
  retryAfter: number;
}

/** The members that no other client changes. */
function essence({ metadata, spec }: Body): string {
  return JSON.stringify([metadata?.uid, metadata?.annotations?.[ATTEMPT], spec]);
}

const SERVICES = "/api/v1/namespaces/default/services";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const SERVICE_CIDRS = "/apis/networking.k8s.io/v1/servicecidrs";
const PORTS = [{ name: "http", protocol: "TCP", port: 80 }];

/** Static addresses are of the default range's last /24. */
const TAKEN = /provided IP is already allocated/;
const STATIC_PREFIX = "10.96.3.";

/** A client with a few Services and a Lease: creates them in every form, changes, retypes, renews and deletes them. */
export function serviceClient(client: CarefulClient, random: WordRandom): () => Promise<Outcome> {
  const services = [0, 1, 2, 3].map((i) => client.holds(SERVICES, `${client.name}-${String(i)}`));
  const lease = client.holds(LEASES, client.name);
  return async () => {
    const held = random.below(5) === 0 ? lease : pick(random, services);
    if (held.doubt !== undefined && !(await client.settle(held))) return "cut";
    if (held === lease) {
      const spec = { holderIdentity: client.name, leaseDurationSeconds: 10 + random.below(50) };
      if (!held.known) return client.create(held, { spec });
      return random.below(5) === 0 ? client.remove(held) : client.change(held, { spec });
    }
    if (!held.known) return client.create(held, { spec: newSpec(random) }, TAKEN);
    const isClusterIP = held.known.spec?.["type"] === "ClusterIP" && held.known.spec["clusterIP"] !== "None";
    switch (random.below(4)) {
      case 0:
        return client.remove(held);
      case 1:
        if (isClusterIP) return client.change(held, { spec: { type: "ExternalName", externalName: "a.example.com" } });
        if (held.known.spec?.["type"] === "ExternalName")
          return client.change(held, { spec: { type: "ClusterIP", externalName: null, ports: PORTS } });
        return client.remove(held);
      default:
        return client.change(held, { spec: { selector: { app: `v${String(random.below(1000))}` } } });
    }
  };
}

function newSpec(random: WordRandom): Record<string, unknown> {
  const selector = { app: "a" };
  switch (random.below(8)) {
    case 0:
      return { clusterIP: STATIC_PREFIX + String(random.below(250) + 1), ports: PORTS, selector };
    case 1:
      return { clusterIP: "None", ports: PORTS, selector };
    case 2:
      return { type: "ExternalName", externalName: "b.example.com" };
    case 3:
      return { type: "NodePort", ports: PORTS, selector };
    default:
      return { ports: PORTS, selector };
  }
}

/** An operator who adds a range and deletes it after a while. */
export function rangeClient(client: CarefulClient, random: WordRandom, cidr: string): () => Promise<Outcome> {
  const range = client.holds(SERVICE_CIDRS, client.name);
  return async () => {
    await sleep(random.below(200));
    // The range goes with its last Service, which belongs to another client.
    if ((range.doubt !== undefined || range.leaving) && !(await client.settle(range))) return "cut";
    if (range.leaving) return "done";
    return range.known ? client.remove(range) : client.create(range, { spec: { cidrs: [cidr] } });
  };
}

/**
 * Lets every client work until `stop` is true or the server is gone. A client with a Retry-After comes back after a second.
 */
export async function work(clients: readonly (() => Promise<Outcome>)[], stop: () => boolean): Promise<void> {
  await Promise.all(
    clients.map(async (step) => {
      while (!stop()) {
        const outcome = await step();
        if (outcome === "cut") return;
        if (outcome === "busy" || outcome === "failed") await sleep(1_000);
      }
    }),
  );
}
