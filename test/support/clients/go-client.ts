/** Writers like typed client-go: protobuf bodies, protobuf or JSON accepted, repeated until the outcome is known. */
import { setTimeout as sleep } from "node:timers/promises";
import { LeaseSchema } from "../../../src/api/schema/kinds/coordination";
import { ServiceSchema } from "../../../src/api/schema/kinds/core-services";
import { EndpointSliceSchema } from "../../../src/api/schema/kinds/discovery";
import { encodeProtobuf } from "../../../src/api/schema/protobuf/encode-protobuf";
import { DeleteOptionsSchema } from "../../../src/api/schema/meta";
import type { MessageSchema } from "../../../src/api/schema/types";
import { PROTOBUF, readAnswer } from "../values/protobuf-answers";

const RETRY_MS = 50;
/** Between two writes, as with a limit of queries per second: a writer without one takes the whole machine. */
const PAUSE_MS = 10;

export interface WrittenKind {
  path: string;
  apiVersion: string;
  kind: string;
  schema: MessageSchema;
  content: object;
}

export const writtenKinds: readonly WrittenKind[] = [
  {
    path: "/api/v1/namespaces/default/services",
    apiVersion: "v1",
    kind: "Service",
    schema: ServiceSchema,
    content: { spec: { selector: { app: "a" }, ports: [{ port: 80, protocol: "TCP" }], type: "ClusterIP" } },
  },
  {
    path: "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    schema: LeaseSchema,
    content: { spec: { holderIdentity: "a", leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:00.000000Z" } },
  },
  {
    path: "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    schema: EndpointSliceSchema,
    content: { addressType: "IPv4", endpoints: [{ addresses: ["192.0.2.1"] }], ports: [{ name: "", port: 80, protocol: "TCP" }] },
  },
];

interface Written {
  metadata: { uid: string; resourceVersion: string; labels?: Record<string, string> };
}

/** One writer: creates, changes and deletes its objects, one after the other. */
export class GoWriter {
  /** answers that no writer should get */
  readonly failures: string[] = [];
  /** writes that were acknowledged */
  acknowledged = 0;
  #stopping = false;
  #running: Promise<void> = Promise.resolve();

  constructor(
    private readonly url: () => string,
    private readonly written: WrittenKind,
    private readonly prefix: string,
  ) {}

  start(): void {
    this.#running = this.#run();
  }

  /** Resolves when the last object is deleted. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let i = 0; !this.#stopping && this.failures.length === 0; i++) {
      const name = `${this.prefix}-${String(i)}`;
      await this.#create(name);
      await this.#update(name);
      await this.#patch(name);
      if (i % 3 !== 0) await this.#delete(name);
    }
  }

  async #create(name: string): Promise<void> {
    const { path, content } = this.written;
    // The server may have carried out an attempt whose answer was lost.
    await this.#send("POST", path, this.#encode({ metadata: { name, namespace: "default" }, ...content }), [201, 409]);
  }

  /** As RetryOnConflict does. */
  async #update(name: string): Promise<void> {
    const path = `${this.written.path}/${name}`;
    for (let code = 409; code === 409;) {
      const object = (await this.#send("GET", path, undefined, [200])).body as Written;
      object.metadata.labels = { ...object.metadata.labels, updated: "yes" };
      code = (await this.#send("PUT", path, this.#encode(object), [200, 409])).code;
    }
  }

  async #patch(name: string): Promise<void> {
    const body = new TextEncoder().encode(JSON.stringify({ metadata: { labels: { patched: "yes" } } }));
    await this.#send("PATCH", `${this.written.path}/${name}`, body, [200], "application/strategic-merge-patch+json");
  }

  async #delete(name: string): Promise<void> {
    const path = `${this.written.path}/${name}`;
    const { uid } = ((await this.#send("GET", path, undefined, [200])).body as Written).metadata;
    const options = { preconditions: { uid }, propagationPolicy: "Background" };
    const body = encodeProtobuf(options, DeleteOptionsSchema, { apiVersion: "v1", kind: "DeleteOptions" });
    await this.#send("DELETE", path, body, [200, 404]);
  }

  #encode(object: object): Uint8Array {
    const { schema, apiVersion, kind } = this.written;
    return encodeProtobuf(object as Record<string, unknown>, schema, { apiVersion, kind });
  }

  /** Sends until an expected code comes, through overload and absence of the server. */
  async #send(
    method: string,
    path: string,
    body: Uint8Array | undefined,
    expected: number[],
    contentType = PROTOBUF,
  ): Promise<{ code: number; body: unknown }> {
    const headers = { Accept: `${PROTOBUF},application/json`, ...(body ? { "Content-Type": contentType } : {}) };
    for (;;) {
      try {
        const response = await fetch(`${this.url()}${path}`, { method, headers, ...(body ? { body } : {}) });
        const answer = await readAnswer(response);
        if (expected.includes(response.status)) {
          if (method !== "GET") {
            this.acknowledged++;
            await sleep(PAUSE_MS);
          }
          return { code: response.status, body: answer };
        }
        if (response.status !== 429 && response.status < 500) {
          this.failures.push(`${method} ${path}: ${String(response.status)} ${JSON.stringify(answer)}`);
          return { code: response.status, body: answer };
        }
      } catch {
        // Refused, or broken before the whole answer came: tried again.
      }
      await sleep(RETRY_MS);
    }
  }
}
