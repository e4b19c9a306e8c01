/** Creates of Clusters with the whole Worker: those that an earlier release has made have no objects until somebody reads Clusters, or makes one. */
import { env } from "cloudflare:test";
import { expect, it, vi } from "vitest";
import { clusterRecord } from "../../../../durable-objects/peers/peers";
import type { Env } from "../../../../durable-objects/platform/env";
import { AccessWorld } from "../../../support/access/access-world";
import { forgetCluster } from "../../../../src/worker/routing/known-clusters";
import { PATIENCE } from "../../../support/objects/patience";
import { wipedAtRest } from "../../../support/runtime/at-rest";

const OBJECTS = "/clusters/default/apis/servicenet.dev/v1alpha1/clusters";
const bindings = env as unknown as Env;

it.each([
  ["a POST: 409", 409],
  ["an apply: changes the object that the cluster has got", 200],
])("a cluster of an earlier release, before anybody has read Clusters: %s, and the cluster stays as it is", async (_, code) => {
  const { world, name, state, answer } = await vi.waitFor(async () => {
    // Nobody has read Clusters then. Where the first look takes longer than a create waits for it, as on a busy machine, the next runtime is tried.
    await wipedAtRest();
    const world = new AccessWorld();
    const name = `${world.cluster}-old`;
    forgetCluster(world.env, "default");
    const { state } = await clusterRecord(bindings, name).open();
    await clusterRecord(bindings, name).setControllers(["*", "-namespace-controller"]);
    const body = { apiVersion: "servicenet.dev/v1alpha1", kind: "Cluster", metadata: { name, labels: { a: "b" } } };
    const apply = { body, headers: { "Content-Type": "application/apply-patch+yaml" } };
    const answer =
      code === 409 ? await world.ask("POST", OBJECTS, { body }) : await world.ask("PATCH", `${OBJECTS}/${name}?fieldManager=a`, apply);
    expect(answer.code).toBe(code);
    return { world, name, state, answer };
  }, PATIENCE);
  if (code === 409) expect(answer.body.message).toBe(`clusters.servicenet.dev "${name}" already exists`);
  const spec = async () => (await world.ask("GET", `${OBJECTS}/${name}`)).body["spec"];
  await vi.waitFor(async () => expect(await spec()).toEqual({ controllers: ["*", "-namespace-controller"] }), PATIENCE);
  const now = await clusterRecord(bindings, name).look();
  expect(now).toMatchObject({ phase: "active", id: "id" in state ? state.id : "", controllers: ["*", "-namespace-controller"] });
});
