/** kubectl with what the server publishes about its types. */
import { describe, expect, it } from "vitest";
import { kubectlInCluster } from "../../support/clients/kubectl";

const kubectl = kubectlInCluster();

describe("kubectl with the schemas", () => {
  it.each(["plaintext", "plaintext-openapiv2"])("explain as %s: shows every field", (output) => {
    const explained = kubectl.ok(`explain service.spec.ports --output=${output}`);
    expect(explained).toMatch(/targetPort/);
    expect(explained).toMatch(/^ {2,4}port\s+<integer>/m);
    expect(explained).not.toContain("<no description>");
  });

  it("the items of a List: validated by OpenAPI v2", () => {
    const item = { apiVersion: "v1", kind: "Service", metadata: { name: "in-list" }, spec: { ports: [{ port: 80 }] } };
    const list = (spec: object) => JSON.stringify({ apiVersion: "v1", kind: "List", items: [{ ...item, spec }] });
    expect(kubectl.refused("create -f -", { input: list({ ports: [{ port: 80 }], portz: 1 }) })).toContain('"portz"');
    expect(kubectl.ok("create -f -", list(item.spec))).toBe("service/in-list created");
  });
});
