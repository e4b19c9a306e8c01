/** HTTP where a server speaks HTTPS, and the other way round: the operating system says that a connection broke, or OpenSSL speaks of versions. */
import { isIP } from "node:net";
import { connect } from "node:tls";
import { UserError } from "../terminal/user-error";

/** Asked again the server answers the same. */
export class WrongScheme extends UserError {}

const HANDSHAKE_MS_MAX = 2_000;
/** What Go's servers answer to HTTP on their HTTPS port. */
const GO_ANSWER = /^Client sent an HTTP request to an HTTPS server/;
/** What is there may be no HTTP at all. */
const BROKEN = /socket hang up|ECONNRESET|EPIPE|Parse Error/;
const NO_TLS = /wrong version number|packet length too long|EPROTO/;

/** The error of a request to `url`, or, where its scheme is the fault, one that says what to do. */
export async function explained(url: string, error: Error): Promise<Error> {
  const { protocol, host } = new URL(url);
  if (protocol === "https:")
    return NO_TLS.test(error.message) ? new WrongScheme(`${host} speaks no HTTPS; the address is http://${host}`) : error;
  return BROKEN.test(error.message) && (await speaksTls(url)) ? speaksHttps(url) : error;
}

/** Throws where the answer is that of a server that speaks HTTPS alone. */
export function refuseHttpsAlone(url: string, status: number, text: string): void {
  if (status === 400 && GO_ANSWER.test(text)) throw speaksHttps(url);
}

function speaksHttps(url: string): WrongScheme {
  const { host } = new URL(url);
  return new WrongScheme(`${host} speaks HTTPS; the address is https://${host}`);
}

/** Whether a handshake comes to its end there, whatever the certificate. */
function speaksTls(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port || 80), ...(isIP(host) === 0 && { servername: host }), rejectUnauthorized: false });
    const end = (speaks: boolean): void => {
      socket.destroy();
      resolve(speaks);
    };
    socket.setTimeout(HANDSHAKE_MS_MAX, () => end(false));
    socket.once("secureConnect", () => end(true));
    socket.once("error", () => end(false));
  });
}
