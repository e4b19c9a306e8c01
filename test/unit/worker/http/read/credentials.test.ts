import { describe, expect, it } from "vitest";
import type { Credentials } from "../../../../../src/access/authentication/ports";
import { BEARER_PROTOCOL, credentialsOf } from "../../../../../src/worker/http/read/credentials";

const encoded = (text: string) => btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const socket = (...protocols: string[]): [string, string][] => [
  ["Upgrade", "websocket"],
  ["Sec-WebSocket-Protocol", protocols.join(", ")],
];

const cases: [title: string, headers: [name: string, value: string][], found: Credentials][] = [
  ["no header: none", [], {}],
  ["a bearer token: it", [["Authorization", "Bearer abc"]], { bearer: "abc" }],
  ["a scheme in another case: it, as upstream", [["authorization", "bEARER abc"]], { bearer: "abc" }],
  ["spaces around: it", [["Authorization", "  Bearer abc  "]], { bearer: "abc" }],
  ["more behind the token: the token alone, as upstream", [["Authorization", "Bearer abc def"]], { bearer: "abc" }],
  ["two spaces: none, as upstream", [["Authorization", "Bearer  abc"]], {}],
  ["a scheme alone: none", [["Authorization", "Bearer"]], {}],
  ["an empty header: none", [["Authorization", ""]], {}],
  ["another scheme: none", [["Authorization", "Basic YWRtaW46YWRtaW4="]], {}],
  ["a token without a scheme: none", [["Authorization", "abc"]], {}],
  [
    "two headers: the first token, with the comma that joins them, which no token has",
    [
      ["Authorization", "Bearer abc"],
      ["Authorization", "Bearer def"],
    ],
    { bearer: "abc," },
  ],
  [
    "another scheme first: none",
    [
      ["Authorization", "Basic abc"],
      ["Authorization", "Bearer def"],
    ],
    {},
  ],
  ["a JWT of Cloudflare Access: it", [["Cf-Access-Jwt-Assertion", "e.y.j"]], { accessJwt: "e.y.j" }],
  [
    "both: both",
    [
      ["Authorization", "Bearer abc"],
      ["Cf-Access-Jwt-Assertion", "e.y.j"],
    ],
    { bearer: "abc", accessJwt: "e.y.j" },
  ],
  ["a WebSocket's subprotocol: its token", socket(`${BEARER_PROTOCOL}${encoded("sn_a?>_b")}`, "x"), { bearer: "sn_a?>_b" }],
  ["a subprotocol that cannot be read: a wrong token", socket(`${BEARER_PROTOCOL}%`), { bearer: "?" }],
  ["an empty subprotocol: none", socket(BEARER_PROTOCOL), {}],
  ["other subprotocols: none", socket("v4.channel.k8s.io"), {}],
  ["a subprotocol of no WebSocket: none", [["Sec-WebSocket-Protocol", `${BEARER_PROTOCOL}${encoded("abc")}`]], {}],
  [
    "a header and a subprotocol: the header's",
    [["Authorization", "Bearer abc"], ...socket(`${BEARER_PROTOCOL}${encoded("def")}`)],
    { bearer: "abc" },
  ],
];

describe("credentials", () => {
  it.each(cases)("%s", (_title, sent, found) => {
    const headers = new Headers();
    for (const [name, value] of sent) headers.append(name, value);
    expect(credentialsOf(headers)).toEqual(found);
  });
});
