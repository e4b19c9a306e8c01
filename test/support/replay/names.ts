/**
 * Names for what each server chooses by itself: uids, resourceVersions, addresses, node ports, random names, times. Each value has the same name
 * wherever it stands in the answers of a group, so an answer that names another object, or another revision of it, differs.
 */
import type { Step } from "./step";

type Json = Record<string, unknown>;

const TIME = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const RECENT_MS = 172_800_000;
const DYNAMIC_PORTS = { first: 30_000, last: 32_767 };

export class Names {
  /** values that a text may hold */
  readonly #texts = new Map<string, string>();
  /** uid → name of the object */
  readonly #objects = new Map<string, string>();
  /** name of the object → its resourceVersions in the order of their appearance */
  readonly #revisions = new Map<string, string[]>();
  readonly #uids = new Map<string, string[]>();
  #continue = "";
  /** all that was sent: what stands there is nobody's choice */
  #sent = "";

  sent(text: string): void {
    this.#sent += `${text}\n`;
  }

  /** The text of a request with what earlier answers said. */
  fill(text: string): string {
    return text.replace(/\$\((uid|rv|continue|generated) ?([^)]*)\)/g, (_all, what: string, name: string) => {
      if (what === "continue") return encodeURIComponent(this.#continue);
      const value = what === "uid" ? this.#uids.get(name)?.at(-1) : this.#revisions.get(name)?.at(-1);
      return value ?? `no-${what}`;
    });
  }

  headers(headers: Record<string, string>): Record<string, string> {
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, this.#text(value)]));
  }

  body(body: unknown, step: Step): unknown {
    this.#learn(body, "");
    return this.#named(body, "", step.managed ?? false);
  }

  #learn(value: unknown, kind: string): void {
    if (Array.isArray(value)) {
      for (const one of value) this.#learn(one, kind);
      return;
    }
    if (!isObject(value)) return;
    const own = typeof value["kind"] === "string" ? value["kind"] : kind;
    const metadata = isObject(value["metadata"]) ? value["metadata"] : {};
    if (typeof metadata["continue"] === "string" && metadata["continue"] !== "") this.#continue = metadata["continue"];
    const { uid, name = "", generateName } = metadata as { uid?: unknown; name?: string; generateName?: unknown };
    if (typeof generateName === "string" && name.startsWith(generateName) && !this.#isSent(name)) {
      this.#texts.set(name, `${generateName}<random>`);
    }
    if (typeof uid === "string" && uid !== "") this.#learnObject(uid, own, name, metadata);
    if (own === "Service" && isObject(value["spec"])) this.#learnService(value["spec"], name);
    for (const [key, member] of Object.entries(value)) {
      if (key === "items" || key === "object" || key === "rows") this.#learn(member, own.replace(/List$/, ""));
    }
  }

  #learnObject(uid: string, kind: string, plainName: string, { resourceVersion }: Json): void {
    const said = this.#objects.get(uid);
    const base = `${kind}/${this.#texts.get(plainName) ?? plainName}`;
    let own = said;
    if (own === undefined) {
      const uids = this.#uids.get(base) ?? [];
      if (!this.#isSent(uid)) this.#texts.set(uid, `<uid ${base}${uids.length === 0 ? "" : ` ${String(uids.length + 1)}`}>`);
      this.#uids.set(base, [...uids, uid]);
      own = uids.length === 0 ? base : `${base} ${String(uids.length + 1)}`;
      this.#objects.set(uid, own);
      if (uids.length > 0) this.#revisions.delete(base);
    }
    if (typeof resourceVersion !== "string") return;
    // A request means the newest revision of the newest object of a name.
    const short = own.split(" ")[0] ?? own;
    for (const name of new Set([own, short])) {
      const revisions = this.#revisions.get(name) ?? [];
      if (!revisions.includes(resourceVersion)) this.#revisions.set(name, [...revisions, resourceVersion]);
    }
  }

  #learnService(spec: Json, name: string): void {
    const addresses = Array.isArray(spec["clusterIPs"]) ? (spec["clusterIPs"] as unknown[]) : [];
    for (const [index, address] of addresses.entries()) {
      if (typeof address === "string" && /[.:]/.test(address) && !this.#isSent(address))
        this.#texts.set(address, `<address ${String(index + 1)} of ${name}>`);
    }
    const ports = Array.isArray(spec["ports"]) ? (spec["ports"] as unknown[]) : [];
    const numbers = [...ports.map((port) => (isObject(port) ? port["nodePort"] : undefined)), spec["healthCheckNodePort"]];
    for (const [index, number] of numbers.entries()) {
      const isDynamic = typeof number === "number" && number >= DYNAMIC_PORTS.first && number <= DYNAMIC_PORTS.last;
      if (isDynamic && !this.#isSent(String(number))) {
        this.#texts.set(String(number), `<node port ${index === ports.length ? "of checks" : String(index + 1)} of ${name}>`);
      }
    }
  }

  #isSent(value: string): boolean {
    return this.#sent.includes(value) && whole(value).test(this.#sent);
  }

  #named(value: unknown, key: string, managed: boolean): unknown {
    if (typeof value === "string") return this.#text(value);
    if (typeof value === "number") return this.#texts.get(String(value)) ?? value;
    if (Array.isArray(value)) return value.map((one) => this.#named(one, key, managed));
    if (!isObject(value)) return value;
    const uid = key === "metadata" ? value["uid"] : undefined;
    const object = typeof uid === "string" ? this.#objects.get(uid) : undefined;
    const members = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
      if (name === "managedFields" && !managed) return [];
      if (name === "resourceVersion" && typeof member === "string" && key === "metadata") return [[name, this.#revision(object, member)]];
      if (name === "continue" && typeof member === "string" && member !== "") return [[name, "<continue>"]];
      if (name === "token" && typeof member === "string" && member.length > 100) return [[name, "<token>"]];
      return [[this.#text(name), this.#named(member, name, managed)]];
    });
    return Object.fromEntries(members);
  }

  /** By its place among those of the object; of a list it is the server's alone. */
  #revision(object: string | undefined, value: string): string {
    if (object === undefined) return value === "" || value === "0" ? value : "<revision>";
    return `<revision ${String((this.#revisions.get(object) ?? []).indexOf(value) + 1)}>`;
  }

  #text(text: string): string {
    let named = text;
    for (const [value, name] of this.#texts) if (named.includes(value)) named = named.replace(whole(value), () => name);
    named = named.replace(TIME, (time, fraction: string | undefined) =>
      Math.abs(Date.now() - Date.parse(time)) > RECENT_MS ? time : fraction === undefined ? "<time>" : "<microtime>",
    );
    return named
      .replace(/(esourceVersion in (?:precondition|object meta): )\d+/g, "$1<revision>")
      .replace(/(Too large resource version: \d+, current: )\d+/g, "$1<revision>");
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value where it is no part of a longer one: 10.96.7.2 is not in 10.96.7.25. */
function whole(value: string): RegExp {
  return new RegExp(`(?<!\\w)${value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?!\\w|\\.\\d)`, "g");
}
