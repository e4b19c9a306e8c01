/** With the gate MultiCIDRServiceAllocator off the APIs ServiceCIDR and IPAddress are as if they had never been, as are Secrets away from loopback. */
import { describe, expect, it } from "vitest";
import { send } from "../client";
import { fakeEnv } from "../fake-env";

const on = fakeEnv().env;
const off = fakeEnv({}, { FEATURE_GATES: "MultiCIDRServiceAllocator=false,DisableAllocatorDualWrite=false" }).env;
const local = fakeEnv({}, { LOOPBACK_ONLY: "true" }).env;
const AGGREGATED = { Accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };

async function ask(env: typeof on, path: string, headers: Record<string, string> = {}) {
  const response = await send(`http://localhost${path}`, { headers }, env);
  return { code: response.status, text: await response.text() };
}

describe("MultiCIDRServiceAllocator=false", () => {
  it.each([
    "/apis/networking.k8s.io",
    "/apis/networking.k8s.io/v1",
    "/apis/networking.k8s.io/v1/servicecidrs",
    "/apis/networking.k8s.io/v1/servicecidrs/kubernetes",
    "/apis/networking.k8s.io/v1/servicecidrs/kubernetes/status",
    "/apis/networking.k8s.io/v1beta1/ipaddresses",
    "/clusters/one/apis/networking.k8s.io/v1/ipaddresses/10.0.0.1",
    "/openapi/v3/apis/networking.k8s.io/v1",
  ])("%s: 404; with the gate on: served", async (path) => {
    expect(await ask(off, path)).toEqual({ code: 404, text: "404 page not found\n" });
    expect((await ask(on, path)).code).toBe(200);
    expect((await ask(off, path)).code, "after the other").toBe(404);
  });

  it.each([
    ["/apis", {}],
    ["/apis", AGGREGATED],
    ["/openapi/v3", {}],
    ["/openapi/v2", {}],
  ])("%s: does not name the resources of the gate", async (path, headers) => {
    const [without, complete] = [await ask(off, path, headers), await ask(on, path, headers)];
    const named = ({ text }: { text: string }) => [
      /apis\/networking|"name":"networking|"ServiceCIDR"/.exec(text)?.[0] ?? "",
      /discovery\.k8s\.io/.test(text),
    ];
    expect(named(without)).toEqual(["", true]);
    expect(named(complete)[0]).not.toBe("");
  });

  it("Services: served as with the gate on", async () => {
    expect((await ask(off, "/api/v1/services")).code).toBe(200);
  });
});

describe("a server that other machines reach", () => {
  it.each([
    "/api/v1/secrets",
    "/api/v1/namespaces/default/secrets",
    "/api/v1/namespaces/default/secrets/s",
    "/api/v1/watch/secrets?timeoutSeconds=1",
  ])("%s: not served; on loopback: served", async (path) => {
    const refused = await ask(on, path);
    expect([refused.code, refused.text]).toEqual([404, expect.stringContaining("secrets is not served")]);
    expect((await ask(local, path)).code).toBe(200);
  });

  it.each([
    ["/api/v1", {}],
    ["/api", { Accept: AGGREGATED.Accept }],
    ["/openapi/v3/api/v1", {}],
    ["/openapi/v2", {}],
  ])("%s: does not name Secrets; on loopback: names them", async (path, headers) => {
    const named = async (env: typeof on) => /"(name|resource)":"secrets"|"kind":"Secret"/.test((await ask(env, path, headers)).text);
    expect(await named(on)).toBe(false);
    expect(await named(local)).toBe(true);
  });

  it.each(["false", "1", "TRUE", ""])("LOOPBACK_ONLY=%j: Secrets are not served", async (LOOPBACK_ONLY) => {
    expect((await ask(fakeEnv({}, { LOOPBACK_ONLY }).env, "/api/v1/secrets")).code).toBe(404);
  });
});
