/** A resource under test: its paths, and objects of its sample. */
import type { ResourceDefinition } from "../../../../src/api/registry/resource";
import { Api } from "../../../support/clients/api";
import type { Body } from "../../../support/clients/api";
import { samples } from "./samples";
import type { Sample } from "./samples";

export type Check = (subject: Subject) => Promise<void>;

export class Subject {
  readonly api: Api;
  readonly sample: Sample;
  /** a namespace of its own, since events have two names for one store */
  readonly namespace: string;
  readonly groupVersion: string;
  /** "leases.coordination.k8s.io": the name of the resource in messages */
  readonly qualified: string;
  #count = 0;

  constructor(
    readonly definition: ResourceDefinition,
    url: () => string,
    index: number,
  ) {
    const key = `${definition.group}/${definition.resource}`;
    const sample = samples[key];
    if (!sample) throw new Error(`test/e2e/conformance/matrix/samples.ts has no sample of ${key}`);
    this.sample = sample;
    this.namespace = `matrix-${String(index)}`;
    this.api = new Api(url);
    this.groupVersion = this.versionOf(definition.versions[0] ?? "");
    this.qualified = definition.group ? `${definition.resource}.${definition.group}` : definition.resource;
  }

  versionOf(version: string): string {
    return this.definition.group ? `${this.definition.group}/${version}` : version;
  }

  /** Path of the collection; `version` other than the preferred one on demand, and another namespace. */
  collection({ groupVersion = this.groupVersion, namespace = this.namespace }: { groupVersion?: string; namespace?: string } = {}): string {
    const root = groupVersion.includes("/") ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
    return `${root}${this.definition.namespaced ? `/namespaces/${namespace}` : ""}/${this.definition.resource}`;
  }

  path(name: string): string {
    return `${this.collection()}/${encodeURIComponent(name)}`;
  }

  /** A new object, not sent yet. */
  fresh(metadata: Record<string, unknown> = {}, namespace = this.namespace): Body & { metadata: { name: string } } {
    const n = ++this.#count;
    const name = this.sample.name?.(n) ?? `sample-${this.definition.singular}-${String(n)}`;
    return {
      apiVersion: this.groupVersion,
      kind: this.definition.kind,
      metadata: { name, annotations: { "example.com/kept": "1" }, ...metadata },
      ...structuredClone(this.sample.content(n, namespace)),
    } as Body & { metadata: { name: string } };
  }

  /** A new object, as it is when the controllers have done with it. */
  async create(metadata: Record<string, unknown> = {}): Promise<Made> {
    const { metadata: stored } = made(await this.api.must("POST", this.collection(), { body: this.fresh(metadata) }));
    return this.settled(stored.name);
  }

  /** The newest state. */
  async read(name: string): Promise<Made> {
    return made(await this.api.must("GET", this.path(name)));
  }

  /** The object when the server has done with it: a ServiceCIDR is written to once more, when it becomes Ready. */
  async settled(name: string): Promise<Made> {
    if (this.definition.resource !== "servicecidrs") return this.read(name);
    const ready = async () => JSON.stringify((await this.read(name)).status ?? {}).includes('"Ready"');
    await this.api.until(ready, `${name} is Ready`);
    return this.read(name);
  }

  /** The object with the sample's change in it. */
  changed<T extends Body>(object: T): T {
    const copy = structuredClone(object);
    const { path, value } = this.sample.change;
    let at = copy as Record<string, unknown>;
    for (const member of path.slice(0, -1)) at = (at[member] ??= {}) as Record<string, unknown>;
    at[path.at(-1) ?? ""] = value;
    return copy;
  }

  /** The sample's change as a merge patch. */
  get mergePatch(): Record<string, unknown> {
    const { path, value } = this.sample.change;
    return path.reduceRight<unknown>((inner, member) => ({ [member]: inner }), value) as Record<string, unknown>;
  }

  /** The sample's change as the pointer of a JSON patch. */
  get pointer(): string {
    return this.sample.change.path.map((member) => `/${member.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  }

  /** What stands where the sample's change goes. */
  changedValue(object: Body): unknown {
    return this.sample.change.path.reduce<unknown>((at, member) => (at as Record<string, unknown> | undefined)?.[member], object);
  }
}

/** An object as answered: what the server always sets is there. */
export type Made = Body & { metadata: { name: string; uid: string; resourceVersion: string } };

export function made(body: Body): Made {
  const { name, uid, resourceVersion } = body.metadata ?? {};
  if (!name || !uid || !resourceVersion) throw new Error(`no stored object: ${JSON.stringify(body)}`);
  return body as Made;
}
