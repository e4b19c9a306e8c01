import { followZones, plainFetch } from "./zones";

const [server = "http://127.0.0.1:8787"] = process.argv.slice(2);
followZones(plainFetch(server), (zones) => console.log(zones.join(" ")));
