/** With the gate MultiCIDRServiceAllocator off the APIs ServiceCIDR and IPAddress are as if they had never been. */
import { describe, expect, it } from "vitest";
import { send } from "../client";
import { fakeEnv } from "../fake-env";

const on = fakeEnv().env;
const off = fakeEnv({}, { FEATURE_GATES: "MultiCIDRServiceAllocator=false,DisableAllocatorDualWrite=false" }).env;
const AGGREGATED = { Accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };

async function ask(env: typeof on, path: string, headers: Record<string, string> = {}) {
  const response = await send(`http://h${path}`, { headers }, env);
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
      /apis\/networking|"name":"networking|"ServiceCIDR"|"IPAddress"/.exec(text)?.[0] ?? "",
      /discovery\.k8s\.io/.test(text),
    ];
    expect(named(without)).toEqual(["", true]);
    expect(named(complete)[0]).not.toBe("");
  });

  it("Services: served as with the gate on", async () => {
    expect((await ask(off, "/api/v1/services")).code).toBe(200);
  });
});
