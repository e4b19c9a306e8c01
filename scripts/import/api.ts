/** The Kubernetes API of the cluster that is imported into, as far as an import needs it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject } from "../../src/meta/kubernetes";
import { UserError } from "../serve/user-error";

const ATTEMPTS = 6;
const RETRY_BASE_MS = 200;
const PAGE = 500;
const FIELD_MANAGER = "servicenet-import";

/** What a write came to. */
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

interface Status {
  reason?: string;
  message?: string;
  details?: { causes?: { field?: string }[] };
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
  /** `url` of the cluster, without a slash at its end */
  constructor(readonly url: string) {}

  /** Throws UserError when the server does not serve it. */
  async list<T extends KubeObject>(path: string): Promise<T[]> {
    const items = await this.listIfServed<T>(path);
    if (!items) throw new UserError(`${this.url}${path} answers 404: it is no Kubernetes API server`);
    return items;
  }

  /** undefined: a 404 */
  async listIfServed<T extends KubeObject>(path: string): Promise<T[] | undefined> {
    const items: T[] = [];
    for (let token = ""; ;) {
      const response = await this.#request("GET", `${path}?limit=${String(PAGE)}&continue=${encodeURIComponent(token)}`);
      const text = await response.text();
      if (response.status === 404) return undefined;
      if (!response.ok) throw new UserError(`${this.url}${path} answers ${String(response.status)}: ${text.slice(0, 500)}`);
      const page = JSON.parse(text) as { metadata?: { continue?: string }; items?: T[] | null };
      items.push(...(page.items ?? []));
      token = page.metadata?.continue ?? "";
      if (token === "") return items;
    }
  }

  get(path: string): Promise<Answer> {
    return this.#answer("GET", path);
  }

  create(path: string, object: object, dryRun: boolean): Promise<Answer> {
    const query = `fieldManager=${FIELD_MANAGER}&fieldValidation=Warn${dryRun ? "&dryRun=All" : ""}`;
    return this.#answer("POST", `${path}?${query}`, object, "application/json");
  }

  patchStatus(path: string, status: unknown): Promise<Answer> {
    return this.#answer("PATCH", `${path}/status?fieldManager=${FIELD_MANAGER}`, { status }, "application/merge-patch+json");
  }

  async #answer(method: string, path: string, body?: object, type?: string): Promise<Answer> {
    const response = await this.#request(method, path, body, type);
    const text = await response.text();
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      // What is not served at all is answered in plain text.
      if (response.ok) throw new UserError(`${this.url} is no Kubernetes API server: ${method} ${path} answers ${text.slice(0, 200)}`);
      parsed = { message: text.trim().slice(0, 200) };
    }
    const { reason = "", message = "", details } = response.ok ? ({} as Status) : (parsed as Status);
    const warnings = [...(response.headers.get("Warning") ?? "").matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, warning = ""]) => warning);
    const fields = (details?.causes ?? []).flatMap(({ field }) => field ?? []);
    return { code: response.status, reason, message, fields, warnings, object: parsed as KubeObject };
  }

  /** Asks again while the server is busy, restarting or out of reach; a create may then find what it created itself. */
  async #request(method: string, path: string, body?: object, type?: string): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      let problem: string;
      let waitMs = RETRY_BASE_MS * 2 ** (attempt - 1);
      try {
        const response = await fetch(this.url + path, {
          method,
          headers: { Accept: "application/json", ...(type === undefined ? {} : { "Content-Type": type }) },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        if (response.status !== 429 && response.status < 502) return response;
        const asked = Number(response.headers.get("Retry-After") ?? "0") * 1_000;
        waitMs = Math.max(waitMs, asked);
        problem = `${String(response.status)} ${(await response.text()).slice(0, 200)}`;
      } catch (error) {
        problem =
          error instanceof Error ? `${error.message} ${error.cause instanceof Error ? error.cause.message : ""}`.trim() : String(error);
      }
      if (attempt === ATTEMPTS) throw new UserError(`${this.url} does not answer: ${method} ${path}: ${problem}`);
      await sleep(waitMs);
    }
  }
}
