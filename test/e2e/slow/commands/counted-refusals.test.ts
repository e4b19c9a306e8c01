/** Counters of refusals, over the sleep of the object that counts. The runtime puts an idle object to sleep after ten seconds. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { Api } from "../../../support/clients/api";
import { metric } from "../../../support/server/metric";
import { serverForTests } from "../../../support/server/server-for-tests";

const SERVICES = "/api/v1/namespaces/default/services";
/** Counters are written once a minute, and the object would sleep long before that. */
const SILENCE_MS = 75_000;

const server = serverForTests(["--var", "SERVICE_CLUSTER_IP_RANGE=10.96.0.0/16"]);
const api = new Api(() => server.url);

const clash = () =>
  api.send("POST", SERVICES, { body: { metadata: { name: "clash" }, spec: { clusterIP: "10.96.0.1", ports: [{ port: 80 }] } } });
const refusals = () => metric(api, "kube_apiserver_clusterip_allocator_allocation_errors_total", "cidr", "scope");

it("a second refusal within the minute, then silence: is counted, though nobody has looked", async () => {
  expect((await clash()).code).toBe(422);
  // The first count is written, and the next write may follow a minute later.
  await api.until(async () => (await refusals())["10.96.0.0/16 static"] === 1, "the first refusal is counted");
  expect((await clash()).code).toBe(422);
  expect(await refusals(), "the second one waits in memory").toEqual({ "10.96.0.0/16 static": 1 });
  await sleep(SILENCE_MS);
  expect(await refusals()).toEqual({ "10.96.0.0/16 static": 2 });
}, 120_000);
