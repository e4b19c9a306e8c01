import { describe, expect, it } from "vitest";
import { shortName } from "../../../../src/api/schema/value-walk";
import type { MessageSchema } from "../../../../src/api/schema/types";
import { ALL_KINDS } from "./all-kinds";
import { attributesOf, clientType, closureOf } from "./client-models";

/** What Kubernetes 1.36 has and the client (1.34) does not. */
const NEWER_FIELDS: Record<string, readonly string[]> = {
  NodeStatus: ["declaredFeatures"],
  PodCertificateProjection: ["userAnnotations"],
  PodSpec: ["schedulingGroup"],
  PodStatus: ["allocatedResources", "resources", "nodeAllocatableResourceClaimStatuses"],
  ResourceHealth: ["message"],
  VolumeMountStatus: ["volumeStatus"],
  ListMeta: ["shardInfo"],
};
const NEWER_MESSAGES = ["ImageVolumeStatus", "NodeAllocatableResourceClaimStatus", "PodSchedulingGroup", "ShardInfo", "VolumeStatus"];

/** Differences between a message and the client's table, one line each. */
async function differences(schema: MessageSchema): Promise<string[]> {
  const attributes = await attributesOf(schema);
  if (attributes === undefined) return NEWER_MESSAGES.includes(shortName(schema)) ? [] : ["unknown to the client"];
  const lines: string[] = [];
  const known = new Set(["kind", "apiVersion"].filter(() => schema.isKind));
  for (const attribute of attributes) {
    if (known.has(attribute.baseName)) continue;
    known.add(attribute.baseName);
    const field = schema.byName.get(attribute.baseName);
    if (field === undefined) {
      lines.push(`${attribute.baseName} is missing`);
      continue;
    }
    const want = clientType(field.type);
    if (want === undefined) continue;
    if (want.type !== attribute.type || (want.format !== undefined && want.format !== attribute.format)) {
      lines.push(`${attribute.baseName}: ${want.type} ${want.format ?? ""}, the client has ${attribute.type} ${attribute.format}`);
    }
  }
  for (const name of schema.byName.keys()) {
    if (!known.has(name) && !NEWER_FIELDS[shortName(schema)]?.includes(name)) lines.push(`${name} is unknown to the client`);
  }
  return lines;
}

describe("schemas", () => {
  const all = closureOf(ALL_KINDS);

  it("have the fields and types of the official client", async () => {
    const found: Record<string, string[]> = {};
    for (const schema of all) {
      const lines = await differences(schema);
      if (lines.length > 0) found[schema.name] = lines;
    }
    expect(found).toEqual({});
    expect(all.length).toBeGreaterThan(150);
  });

  it("have one message per name", () => {
    expect(new Set(all.map((schema) => schema.name)).size).toBe(all.length);
  });
});
