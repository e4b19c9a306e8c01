/** The sockets of a running server: one for its clients, none that another user or a page reaches. */
import { describe } from "vitest";
import { expectNoSideDoor } from "../../support/server/expect-no-side-door";

describe("npm start -- --insecure-http", () => expectNoSideDoor([]));
