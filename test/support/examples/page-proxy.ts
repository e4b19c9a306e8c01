import { forward } from "./forward";
import { keepServices, type Service } from "./kept-services";

const [server = "http://127.0.0.1:8787", node = "node-1", service = "default/web", port = "80", listen = "8080"] = process.argv.slice(2);
const services = new Map<string, Service>();
void keepServices(`${server}/api/v1/nodes/${node}/proxy-config`, services, new AbortController().signal);
forward(services, `${service}/IPv4`, Number(port)).listen(Number(listen), "127.0.0.1");
