/** DeleteOptions in the body of a deletion. Upstream: apiserver pkg/endpoints/handlers/delete.go. */
import { expect, it } from "vitest";
import type { WriteRequest } from "../../../../src/api/rpc/store";
import { send } from "../client";
import { fakeEnv } from "../fake-env";

/** The answer's code and message, and the options that the store was given. */
async function deleted(body: string, type: string, query = "") {
  const { env, calls } = fakeEnv();
  const init = { method: "DELETE", ...(body === "" ? {} : { body, headers: { "Content-Type": type } }) };
  const response = await send(`http://h/api/v1/namespaces/default/configmaps/a${query}`, init, env);
  const { message } = (await response.json()) as { message?: string };
  const [options] = calls.flatMap(({ method, argument }) => (method === "write" ? [(argument as WriteRequest).options] : []));
  return { code: response.status, message, options };
}

it.each<{ what: string; body: string; type?: string; query?: string; code: number; message?: string }>([
  {
    what: "a type that nobody reads",
    body: "{}",
    type: "text/plain",
    code: 415,
    message: "the body of the request was in an unknown format",
  },
  {
    what: "no object",
    body: "[]",
    code: 400,
    message: "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct",
  },
  {
    what: "a field of another type",
    body: '{"gracePeriodSeconds":"x"}',
    code: 400,
    message: "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
  },
  {
    what: "more values than a document may have",
    body: `{"dryRun":[${'"",'.repeat(300_000)}""]}`,
    code: 413,
    message: "Request entity too large: limit is 300000 values",
  },
  { what: "another kind", body: '{"kind":"Pod","apiVersion":"v1"}', code: 400, message: 'no kind "Pod" is registered for version "v1"' },
  { what: "a query that is none", body: "", query: "?gracePeriodSeconds=x", code: 400, message: "x" },
])("options with $what: $code, and nothing is deleted", async ({ body, type = "application/json", query, code, message = "" }) => {
  const answer = await deleted(body, type, query);
  expect(answer).toMatchObject({ code, options: undefined });
  expect(answer.message).toContain(message);
});

it.each([
  ["of the group's own version", '{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Orphan"}'],
  ["of another group", '{"kind":"DeleteOptions","apiVersion":"policy/v1","propagationPolicy":"Orphan"}'],
  ["without a type", '{"propagationPolicy":"Orphan","gracePeriodSeconds":null}'],
])("options %s: count", async (_, body) => {
  expect((await deleted(body, "application/json")).options).toMatchObject({ propagationPolicy: "Orphan" });
});
