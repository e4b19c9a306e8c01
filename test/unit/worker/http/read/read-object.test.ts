import { describe, expect, it } from "vitest";
import { ServiceSchema } from "../../../../../src/api/schema/kinds/core-services";
import { UNCOUNTED } from "../../../../../src/worker/http/in-flight";
import { readObject } from "../../../../../src/worker/http/read/read-object";

const SERVICE = { kind: "Service", group: "", version: "v1", schema: ServiceSchema };

describe("readObject", () => {
  it("a body of an unknown content type: 415, which names the known ones", async () => {
    const request = {
      request: new Request("http://h/", { method: "POST", body: "{}", headers: { "Content-Type": "text/plain" } }),
      place: UNCOUNTED,
    };
    expect(await readObject(request, SERVICE, "Warn")).toMatchObject({
      error: {
        code: 415,
        message:
          "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
      },
    });
  });
});
