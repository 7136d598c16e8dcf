"""A server of the files of this folder on 127.0.0.1."""

import errno
import functools
import http.server
import os
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    # The table of the machine may lack these, and browsers refuse modules of another type.
    extensions_map = {
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".wasm": "application/wasm",
    }

    def end_headers(self):
        # A new build must show at the next reload.
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, *arguments):
        pass


def listen(port):
    handler = functools.partial(Handler, directory=os.path.dirname(os.path.abspath(__file__)))
    return http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)


def main(arguments):
    if len(arguments) > 1 or not all(text.isdigit() and int(text) < 65536 for text in arguments):
        sys.exit("usage: web/serve [PORT]")
    try:
        server = listen(int(arguments[0]) if arguments else 8080)
    except OSError as error:
        if arguments or error.errno != errno.EADDRINUSE:
            sys.exit(f"127.0.0.1: {error.strerror}; name another port: web/serve PORT")
        server = listen(0)
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main(sys.argv[1:])
