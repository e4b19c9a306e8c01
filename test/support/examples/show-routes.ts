import { followRoutes } from "./routes";

const [server = "http://127.0.0.1:8787", name = "node-1", zone] = process.argv.slice(2);
followRoutes(
  (path, init) => fetch(server + path, init),
  { name, zone },
  (service, routes) => console.log(`${service.namespace}/${service.name}`, routes),
);
