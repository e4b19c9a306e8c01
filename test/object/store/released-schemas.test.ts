/** The steps of every schema that was released: data folders and deployments have applied them, so that a change to one would reach none of them. */
import { describe, expect, it } from "vitest";
import { CONTROLLER_MIGRATIONS } from "../../../durable-objects/controller-tables";
import { COORDINATOR_MIGRATIONS } from "../../../durable-objects/coordinator";
import { IP_ADDRESSES_MIGRATIONS } from "../../../durable-objects/ip-addresses-store";
import { NODE_PROXY_MIGRATIONS } from "../../../durable-objects/node-proxy";
import { RESOURCE_STORE_MIGRATIONS } from "../../../durable-objects/resource-store";
import { SERVICES_MIGRATIONS } from "../../../durable-objects/services-store";
import { CLUSTER_RECORD_MIGRATIONS } from "../../../durable-objects/sql/cluster-record-sql";
import { CREDENTIALS_MIGRATIONS } from "../../../durable-objects/sql/credentials-sql";
import type { Migration } from "../../../durable-objects/sql/migrate";
import { OWNER_MIGRATIONS } from "../../../durable-objects/sql/owner-sql";

/** Per class its steps and the first 16 digits of the SHA-256 of each step's SQL. A new step adds a line; a line is never changed. */
const RELEASED: readonly { of: string; migrations: readonly Migration[]; sums: readonly string[] }[] = [
  {
    of: "Coordinator",
    migrations: COORDINATOR_MIGRATIONS,
    sums: [
      "fb5d4db7af9e3153",
      "e9e2e37bf5e577ba",
      "795c0ff91dbd5ca9",
      "7160ab1d2997e1b7",
      "d400f0e95189fd05",
      "016c867f3f8be92e",
      "a5c81987c79c0592",
    ],
  },
  { of: "ServiceCIDR", migrations: OWNER_MIGRATIONS, sums: ["9323ffd1314dd288", "4cd5cc3aa1f05058", "175e3778487c7e21"] },
  { of: "ResourceStore", migrations: RESOURCE_STORE_MIGRATIONS, sums: ["fb5d4db7af9e3153", "016c867f3f8be92e", "a5c81987c79c0592"] },
  {
    of: "ServicesStore",
    migrations: SERVICES_MIGRATIONS,
    sums: [
      "fb5d4db7af9e3153",
      "c8beb276d2eb14cf",
      "36ce8bf17faee388",
      "33e883d7d7164dc9",
      "f4c8452b2f1b98c4",
      "016c867f3f8be92e",
      "a5c81987c79c0592",
    ],
  },
  {
    of: "IPAddressesStore",
    migrations: IP_ADDRESSES_MIGRATIONS,
    sums: ["fb5d4db7af9e3153", "980d8519a0f87b8d", "016c867f3f8be92e", "a5c81987c79c0592"],
  },
  {
    of: "Controller",
    migrations: CONTROLLER_MIGRATIONS,
    sums: ["d10cda979b27f380", "bf998492bcbaa932", "a4eb18845ecc8f47", "ff33191407c6ad74", "a0cfb888905e2920", "ca3b5c79270cfd16"],
  },
  { of: "NodeProxy", migrations: NODE_PROXY_MIGRATIONS, sums: ["ee7de2941055e554", "8e4c5aad3ffd9b4b"] },
  { of: "ClusterRecord", migrations: CLUSTER_RECORD_MIGRATIONS, sums: ["c5ec57682d4bf136"] },
  { of: "CredentialStore", migrations: CREDENTIALS_MIGRATIONS, sums: ["1ea33a6d49e0c2e4", "3301e96878fa39e1"] },
];

async function sumOf({ sql }: Migration): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(sql));
  return [...new Uint8Array(digest, 0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

describe.each(RELEASED)("the schema of $of", ({ of, migrations, sums }) => {
  it("a schema: has steps 1, 2, 3, … without a gap", () => {
    expect(migrations.map(({ id }) => id)).toEqual(migrations.map((_, index) => index + 1));
  });

  it("a released step: is as it was released", async () => {
    const found = await Promise.all(migrations.map(sumOf));
    const edited = `a released step of ${of} was edited, moved or taken out, which no existing object would notice: undo that, append a new step instead`;
    expect(found.slice(0, sums.length), edited).toEqual(sums);
    const added = `${of} has a new step: add its sum here, and a data folder of the schema before it to test/fixtures/schemas`;
    expect(found, added).toEqual(sums);
  });
});
