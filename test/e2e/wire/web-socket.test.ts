/** Watches over WebSocket whose clients send invalid frames, or leave silently. */
import { describe, expect, it } from "vitest";
import { openWatches } from "../../support/server/observe";
import { frame, RawSocket } from "../../support/clients/raw-socket";
import { getJson } from "../../support/server/server";
import { PROTOBUF, readEvent } from "../../support/values/protobuf-answers";
import { clusterForTests } from "../../support/server/cluster-for-tests";

const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const WATCH = `${LEASES}?watch=true&resourceVersion=0`;
const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
const cluster = clusterForTests();

const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read);
const watches = () => openWatches(cluster.url, "leases");
const openSocket = (headers?: Record<string, string | undefined>, path = WATCH) => RawSocket.open(cluster.url, path, headers);

let made = 0;
/** A change that every watcher of leases is told. */
async function change(): Promise<string> {
  const name = `seen-${String(made++)}`;
  const response = await fetch(`${cluster.url}${LEASES}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ metadata: { name } }),
  });
  expect(response.status).toBe(201);
  return name;
}
/** Names in the events that came as text messages. */
const told = (socket: RawSocket): string[] =>
  socket.frames
    .filter(({ opcode }) => opcode === TEXT)
    .map(({ payload }) => (JSON.parse(payload.toString()) as { object: { metadata: { name: string } } }).object.metadata.name);

describe("the handshake", () => {
  it.each<[string, Record<string, string | undefined>, string | undefined]>([
    ["no subprotocol", {}, undefined],
    ["one subprotocol", { "Sec-WebSocket-Protocol": "v4.channel.k8s.io" }, "v4.channel.k8s.io"],
    ["several subprotocols, of which the first is taken", { "Sec-WebSocket-Protocol": "a, b" }, "a"],
    ["a token, which is never sent back", { "Sec-WebSocket-Protocol": "base64url.bearer.authorization.k8s.io.dG9r, a" }, "a"],
    ["an origin of the host that it asks", { Origin: "http://localhost" }, undefined],
  ])("a handshake with %s: the agreed subprotocol", async (_name, headers, protocol) => {
    const socket = await openSocket(headers);
    await eventually(() => socket.status).toBe(101);
    expect(/^Sec-WebSocket-Protocol: (.*)$/im.exec(socket.head)?.[1]).toBe(protocol);
    expect(socket.head).toMatch(/^Audit-ID: [0-9a-f-]{36}$/im);
    socket.destroy();
  });

  it.each<[string, Record<string, string | undefined>, number]>([
    ["no key", { "Sec-WebSocket-Key": undefined }, 400],
    ["no version", { "Sec-WebSocket-Version": undefined }, 400],
    ["another version", { "Sec-WebSocket-Version": "8" }, 400],
    ["a version that is none", { "Sec-WebSocket-Version": "x" }, 400],
    ["only YAML accepted", { Accept: "application/yaml" }, 406],
    ["a page of elsewhere", { Origin: "http://elsewhere.example" }, 403],
    ["a page that hides its origin", { Origin: "null" }, 403],
  ])("a handshake with %s: refused", async (_name, headers, code) => {
    const socket = await openSocket(headers);
    await eventually(() => socket.status).toBe(code);
    socket.destroy();
  });

  it.each<[string, string, number, string]>([
    ["a resourceVersion that is none", `${LEASES}?watch=true&resourceVersion=x`, 422, "Invalid"],
    ["a selector that cannot be read", `${LEASES}?watch=true&labelSelector=a%20b`, 400, "BadRequest"],
    ["a field that is not selectable", `${LEASES}?watch=true&fieldSelector=spec.x=1`, 400, "BadRequest"],
    ["a timeout that is no number", `${LEASES}?watch=true&timeoutSeconds=x`, 400, "BadRequest"],
    ["initial events without their match", `${LEASES}?watch=true&sendInitialEvents=true`, 422, "Invalid"],
    ["an unknown resource", "/apis/coordination.k8s.io/v1/nothing?watch=true", 404, "NotFound"],
  ])("a handshake with %s: refused with a Status", async (_name, path, code, reason) => {
    const socket = await openSocket({}, path);
    await eventually(() => socket.status).toBe(code);
    await eventually(() => socket.body.toString().endsWith("}")).toBe(true);
    expect(JSON.parse(socket.body.toString())).toMatchObject({ kind: "Status", code, reason });
    socket.destroy();
  });

  it.each([LEASES, "/version", "/api/v1/namespaces/default"])("a handshake for %s, which is no watch: ignored", async (path) => {
    const socket = await openSocket({}, path);
    await eventually(() => socket.status).toBe(200);
    socket.destroy();
  });

  it("an upgrade to another protocol: a watch over HTTP", async () => {
    const socket = await openSocket({ Upgrade: "h2c" });
    await eventually(() => socket.status).toBe(200);
    const name = await change();
    await eventually(() => socket.body.toString()).toContain(`"name":"${name}"`);
    socket.destroy();
  });
});

const bytes = (...values: number[]) => Uint8Array.from(values);
const text = (value: string) => new TextEncoder().encode(value);

describe("protobuf", () => {
  it("each event: one binary message, without the length that stands before a frame", async () => {
    const socket = await openSocket({ Accept: PROTOBUF });
    await eventually(() => socket.status).toBe(101);
    const names = [await change(), await change()];
    const events = () => socket.frames.filter(({ opcode }) => opcode === BINARY).map(({ payload }) => readEvent(payload));
    const named = () => events().map(({ type, object }) => `${type} ${(object["metadata"] as { name: string }).name}`);
    for (const name of names) await eventually(named).toContain(`ADDED ${name}`);
    expect(socket.frames.filter(({ opcode }) => opcode === TEXT)).toEqual([]);
    socket.destroy();
  });
});

describe("what a client sends", () => {
  it.each<[string, Uint8Array]>([
    ["text", frame(TEXT, text("hello"))],
    ["an empty text", frame(TEXT, bytes())],
    ["bytes", frame(BINARY, bytes(0, 255))],
    ["text that is no UTF-8", frame(TEXT, bytes(0xff, 0xfe))],
    ["16 MiB", frame(BINARY, new Uint8Array(16 << 20))],
    ["pieces of one message", Buffer.concat([frame(TEXT, text("a"), { final: false }), frame(0, text("b"))])],
    ["a thousand messages at once", Buffer.concat(Array.from({ length: 1000 }, () => frame(TEXT, text("x"))))],
    ["a pong nobody asked for", frame(PONG, bytes())],
  ])("%s: ignored", async (_name, said) => {
    const socket = await openSocket();
    await eventually(() => socket.status).toBe(101);
    socket.send(said);
    const name = await change();
    await eventually(() => told(socket)).toContain(name);
    expect([socket.over, socket.closeCode]).toEqual([false, undefined]);
    socket.destroy();
  });

  it("a ping: answered with its bytes", async () => {
    const socket = await openSocket();
    await eventually(() => socket.status).toBe(101);
    socket.send(frame(PING, text("are you there")));
    await eventually(() => socket.frames.filter(({ opcode }) => opcode === PONG).map(({ payload }) => payload.toString())).toEqual([
      "are you there",
    ]);
    socket.destroy();
  });

  it.each<[string, Uint8Array, number]>([
    ["a reserved bit", frame(TEXT, text("x"), { reserved: 4 }), 1002],
    ["an unknown opcode", frame(3, text("x")), 1002],
    ["the rest of a message that never began", frame(0, text("x")), 1002],
    // The announced length is enough.
    ["a message beyond 32 MiB", bytes(0x82, 0xff, 0, 0, 0, 0, 4, 0, 0, 0, 1, 2, 3, 4), 1009],
  ])("%s: ends its own watch with a close code", async (_name, said, code) => {
    const [socket, other] = [await openSocket(), await openSocket()];
    await eventually(() => [socket.status, other.status]).toEqual([101, 101]);
    socket.send(said);
    await eventually(() => [socket.over, socket.closeCode]).toEqual([true, code]);
    await eventually(() => told(other)).toContain(await change());
    socket.destroy();
    other.destroy();
  });

  it.each<[string, Uint8Array, number]>([
    ["with a code", bytes(0x03, 0xe8), 1000],
    ["with a code and a reason", Buffer.concat([bytes(0x03, 0xe9), text("going away")]), 1001],
    ["without a code", bytes(), 0],
    ["with half a code", bytes(0x03), 0],
  ])("a close, %s: answered", async (_name, payload, code) => {
    const socket = await openSocket();
    await eventually(() => socket.status).toBe(101);
    socket.send(frame(CLOSE, payload));
    await eventually(() => [socket.over, socket.closeCode]).toEqual([true, code]);
    socket.destroy();
  });
});

describe("a client that is gone", () => {
  it("no watch stays: closed, cut off, in the middle of the handshake, and after all tests of this file", async () => {
    const sockets = await Promise.all(Array.from({ length: 60 }, () => openSocket()));
    await eventually(() => sockets.every(({ status }) => status === 101)).toBe(true);
    expect(await watches()).toBeGreaterThanOrEqual(60);
    sockets.forEach((socket, at) => {
      if (at % 2 === 0) socket.send(frame(CLOSE, bytes(0x03, 0xe8)));
      else socket.destroy();
    });
    for (let i = 0; i < 10; i++) (await openSocket()).destroy();
    // Watches over HTTP whose clients left without a word are found by the next change.
    await change();
    await eventually(watches).toBe(0);
    for (const socket of sockets) socket.destroy();
    await getJson(`${cluster.url}/version`);
  });
});
