/** gzip of large answers. Source: upstream apiserver endpoints/handlers/responsewriters/writers.go. */
import { COMPRESSIBLE_HEADER } from "../../../api/store/list/collection-header";

/** Whether the client takes gzip. */
function acceptsGzip(acceptEncoding: string | null): boolean {
  return (acceptEncoding ?? "").split(",").some((clause) => {
    const [coding = "", ...parameters] = clause.split(";").map((part) => part.trim().toLowerCase());
    return coding === "gzip" && !parameters.some((parameter) => /^q\s*=\s*0(\.0*)?$/.test(parameter));
  });
}

/**
 * The response in gzip where the client takes it. The platform compresses a body as it leaves the Worker, as its Content-Encoding says.
 */
export function gzipped(response: Response, acceptEncoding: string | null): Response {
  if (!acceptsGzip(acceptEncoding)) return response;
  const headers = new Headers(response.headers);
  headers.delete("Content-Length");
  headers.set("Content-Encoding", "gzip");
  headers.append("Vary", "Accept-Encoding");
  return new Response(response.body, { status: response.status, headers });
}

/** A store's answer, compressed where the store marks it as large and the client takes gzip. */
export function compressed(response: Response, acceptEncoding: string | null): Response {
  if (!response.headers.has(COMPRESSIBLE_HEADER)) return response;
  const headers = new Headers(response.headers);
  headers.delete(COMPRESSIBLE_HEADER);
  return gzipped(new Response(response.body, { status: response.status, headers }), acceptEncoding);
}
