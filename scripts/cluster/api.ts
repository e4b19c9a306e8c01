/** The Kubernetes API of a cluster, as far as programs of an operator need it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject } from "../../src/api/meta/kubernetes";
import { OTHER_RELEASE } from "../../src/api/rpc/protocol";
import { decodeContinue } from "../../src/api/meta/continue-token";
import { UserError } from "../terminal/user-error";
import { parseJson } from "../../src/core/encoding/exact-json";
import { type Reply, send } from "./send";
import type { Target } from "./target";
import { WrongScheme } from "./wrong-scheme";

const ATTEMPTS = 6;
const RETRY_BASE_MS = 200;
const PAGE = 500;
/** How often a list begins again when the history outlives its pages. */
const LIST_ATTEMPTS = 5;

/** The answer to a write. */
export interface Answer {
  code: number;
  /** of a Status */
  reason: string;
  message: string;
  /** fields that the causes of a Status name */
  fields: string[];
  warnings: string[];
  object: KubeObject;
}

export interface WriteOptions {
  dryRun?: boolean;
  /** in whose name; the program's when it is absent */
  fieldManager?: string;
}

export interface WholeList<T> {
  items: T[];
  /** the revision at which all items were read */
  resourceVersion: string;
}

/** The place of an object that cannot be read, as the tokens of the list show it: `namespace/name` or a name. */
export interface DamagedPlace {
  /** its own key; "" = it is the last one */
  key: string;
  /** the key of the one before it; "" = it is the first one */
  before: string;
}

interface Status {
  reason?: string;
  message?: string;
  details?: { kind?: string; causes?: { field?: string }[] };
}

interface Page {
  metadata?: { continue?: string; resourceVersion?: string };
  items?: KubeObject[] | null;
}

/** `namespace` undefined = cluster-scoped, or all namespaces */
export function collectionPath(kind: "Namespace" | "Service" | "ServiceCIDR" | "IPAddress", namespace?: string): string {
  switch (kind) {
    case "Namespace":
      return "/api/v1/namespaces";
    case "Service":
      return namespace === undefined ? "/api/v1/services" : `/api/v1/namespaces/${encodeURIComponent(namespace)}/services`;
    case "ServiceCIDR":
      return "/apis/networking.k8s.io/v1/servicecidrs";
    case "IPAddress":
      return "/apis/networking.k8s.io/v1/ipaddresses";
  }
}

export class Api {
  #skewMs: number | undefined;

  /** `fieldManager` is what the program writes as. */
  constructor(
    private readonly target: Target,
    private readonly fieldManager = "servicenet",
  ) {}

  /** of the cluster, without a slash at its end */
  get url(): string {
    return this.target.url;
  }

  /** The server's clock, as its answers show it. */
  now(): number {
    return Date.now() + (this.#skewMs ?? 0);
  }

  /** Throws UserError when the server does not serve it. */
  async list<T extends KubeObject>(path: string): Promise<T[]> {
    const items = await this.listIfServed<T>(path);
    if (!items) throw new UserError(`${this.url}${path} answers 404: it is no Kubernetes API server`);
    return items;
  }

  /** The resourceVersion of a list without its objects; "" = there is none, or none for this user. Throws UserError. */
  async newestRevision(path: string): Promise<string> {
    const { status, text } = await this.#request("GET", `${path}?limit=1`);
    const page = status < 300 ? (parsed(text) as Page | undefined) : undefined;
    if (status !== 404 && status !== 403 && !page) throw new UserError(`${this.url}${path} answers ${status}: ${text.slice(0, 500)}`);
    return page?.metadata?.resourceVersion ?? "";
  }

  /** undefined: a 404 */
  async listIfServed<T extends KubeObject>(path: string): Promise<T[] | undefined> {
    return (await this.listWhole(path, (object) => object as T))?.items;
  }

  /**
   * All objects of one moment; undefined: a 404. `kept` is called with each object as it comes, so that only its result is held. `damaged` is called
   * with the place of an object whose text is no JSON; without `damaged` such a list throws. Throws UserError.
   */
  async listWhole<T>(
    path: string,
    kept: (object: KubeObject) => T,
    damaged?: (place: DamagedPlace) => T,
  ): Promise<WholeList<T> | undefined> {
    for (let attempt = 1; ; attempt++) {
      const list = await this.#listOnce(path, kept, damaged);
      if (list !== "expired") return list;
      if (attempt === LIST_ATTEMPTS) throw new UserError(`${this.url}${path} changes faster than it can be listed`);
    }
  }

  async #listOnce<T>(
    path: string,
    kept: (object: KubeObject) => T,
    damaged: ((place: DamagedPlace) => T) | undefined,
  ): Promise<WholeList<T> | "expired" | undefined> {
    const items: T[] = [];
    let limit = PAGE;
    for (let token = ""; ;) {
      const { status, text } = await this.#request("GET", `${path}?limit=${limit}&continue=${encodeURIComponent(token)}`);
      if (status === 404) return this.#unlessNoCluster(text);
      if (status === 410) return "expired";
      let page = status < 300 ? (parsed(text) as Page | undefined) : undefined;
      if (!page && status < 300 && damaged) {
        if (limit > 1) {
          // One by one, up to the damaged object.
          limit = 1;
          continue;
        }
        page = pageWithoutItems(text);
        if (page) items.push(damaged({ key: keyIn(page.metadata?.continue), before: keyIn(token) }));
        limit = PAGE;
      }
      if (!page?.metadata) throw new UserError(`${this.url}${path} answers ${status}: ${text.slice(0, 500)}`);
      for (const object of page.items ?? []) items.push(kept(object));
      token = page.metadata.continue ?? "";
      if (token === "") return { items, resourceVersion: page.metadata.resourceVersion ?? "" };
    }
  }

  /** Throws UserError when the server does not have the whole cluster. */
  #unlessNoCluster(text: string): undefined {
    const { details, message = "" } = (parsed(text) ?? {}) as Status;
    if (details?.kind === "clusters") throw new UserError(`${this.url}: ${message}`);
    return undefined;
  }

  /**
   * Makes the cluster that `--cluster` names unless it exists, because a read makes none. Throws UserError when the cluster cannot be made, or is elsewhere.
   *
   * @param location where it is to be; undefined = near this machine, or where it is
   */
  async begin(location?: string): Promise<void> {
    if (!/\/clusters\/[^/]+$/.test(this.url)) {
      if (location !== undefined) throw new UserError("--location: goes with --cluster NAME");
      return;
    }
    const { code, message } = await this.#answer("PUT", "", location === undefined ? {} : { location }, "application/json");
    if (code >= 300) throw new UserError(`${this.url} cannot be made: ${code} ${message}`);
  }

  get(path: string): Promise<Answer> {
    return this.#answer("GET", path);
  }

  /** The same, but for a part of the server that is of another release: its 503 is the answer at once. */
  getOfThisRelease(path: string): Promise<Answer> {
    return this.#answer("GET", path, undefined, undefined, ({ status, text }) => status === 503 && text.includes(OTHER_RELEASE));
  }

  create(path: string, object: object, { dryRun = false, fieldManager = this.fieldManager }: WriteOptions = {}): Promise<Answer> {
    const query = `fieldManager=${encodeURIComponent(fieldManager)}&fieldValidation=Warn${dryRun ? "&dryRun=All" : ""}`;
    return this.#answer("POST", `${path}?${query}`, object, "application/json");
  }

  /** For paths that are no resources. */
  post(path: string, body: object = {}): Promise<Answer> {
    return this.#answer("POST", path, body, "application/json");
  }

  /** For paths that are no resources. */
  put(path: string, body: object): Promise<Answer> {
    return this.#answer("PUT", path, body, "application/json");
  }

  replace(path: string, object: object): Promise<Answer> {
    return this.#answer("PUT", `${path}?fieldManager=${encodeURIComponent(this.fieldManager)}`, object, "application/json");
  }

  /** A merge patch. */
  patch(path: string, patch: object): Promise<Answer> {
    return this.#answer("PATCH", `${path}?fieldManager=${encodeURIComponent(this.fieldManager)}`, patch, "application/merge-patch+json");
  }

  patchStatus(path: string, status: unknown): Promise<Answer> {
    return this.patch(`${path}/status`, { status });
  }

  delete(path: string, options: object = {}): Promise<Answer> {
    return this.#answer("DELETE", path, options, "application/json");
  }

  async #answer(method: string, path: string, body?: object, type?: string, isFinal?: (reply: Reply) => boolean): Promise<Answer> {
    const { status: code, text, header } = await this.#request(method, path, body, type, isFinal);
    const isOk = code >= 200 && code < 300;
    let object = parsed(text);
    // The answer for a path that is not served is plain text.
    if (object === undefined && isOk)
      throw new UserError(`${this.url} is no Kubernetes API server: ${method} ${path} answers ${text.slice(0, 200)}`);
    object ??= { message: text.trim().slice(0, 200) };
    const { reason = "", message = "", details } = isOk ? ({} as Status) : (object as Status);
    const warnings = [...header("warning").matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, warning = ""]) => warning);
    const fields = (details?.causes ?? []).flatMap(({ field }) => field ?? []);
    return { code, reason, message, fields, warnings, object: object as KubeObject };
  }

  /**
   * Repeats the request while the server is busy, restarting or out of reach, unless `isFinal` says that this answer counts. A repeated create may find
   * its own object.
   */
  async #request(
    method: string,
    path: string,
    body?: object,
    type?: string,
    isFinal: (reply: Reply) => boolean = () => false,
  ): Promise<Reply> {
    for (let attempt = 1; ; attempt++) {
      let problem: string;
      let waitMs = RETRY_BASE_MS * 2 ** (attempt - 1);
      try {
        const reply = await send(this.target, method, path, body, type);
        const date = Date.parse(reply.header("date"));
        // Once: whole seconds would make the clock jump.
        if (!Number.isNaN(date)) this.#skewMs ??= date - Date.now();
        if ((reply.status !== 429 && reply.status < 502) || isFinal(reply)) return reply;
        waitMs = Math.max(waitMs, Number(reply.header("retry-after") || "0") * 1_000);
        problem = `${reply.status} ${reply.text.slice(0, 200)}`;
      } catch (error) {
        if (error instanceof WrongScheme) throw error;
        problem =
          error instanceof Error ? `${error.message} ${error.cause instanceof Error ? error.cause.message : ""}`.trim() : String(error);
      }
      if (attempt === ATTEMPTS) throw new UserError(`${this.url} does not answer: ${method} ${path}: ${problem}`);
      await sleep(waitMs);
    }
  }
}

/** A list without its items, which come last and are damaged. */
function pageWithoutItems(text: string): Page | undefined {
  const end = text.indexOf(',"items":');
  return end < 0 ? undefined : (parsed(`${text.slice(0, end)}}`) as Page | undefined);
}

/** The last key of the page that the token follows; "" = there is no token, or none of Servicenet. */
function keyIn(token = ""): string {
  const decoded = decodeContinue(token);
  return decoded.ok ? decoded.value.start : "";
}

/** undefined: it is no JSON object */
function parsed(text: string): object | undefined {
  try {
    const value = parseJson(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
