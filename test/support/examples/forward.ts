import { connect, createServer, type Server, type Socket } from "node:net";
import type { Service } from "./kept-services";

/** Connects to an endpoint, `ip:port`. */
export function dial(endpoint: string): Socket {
  const { hostname, port } = new URL(`tcp://${endpoint}`);
  return connect(Number(port), hostname.replace(/^\[|\]$/g, ""));
}

/** A server whose connections go to the port of a Service, which `key` names: `namespace/name/IPv4`. */
export function forward(services: ReadonlyMap<string, Service>, key: string, port: number, to = dial): Server {
  return createServer((client) => {
    const endpoints = services.get(key)?.ports.find((one) => one.port === port)?.cluster ?? [];
    const endpoint = endpoints[Math.floor(Math.random() * endpoints.length)];
    if (endpoint === undefined) return void client.destroy();
    const backend = to(endpoint);
    client.on("error", () => backend.destroy()).pipe(backend);
    backend.on("error", () => client.destroy()).pipe(client);
  });
}
