package dev.kagzi.cli;

import picocli.CommandLine.Option;

/** Which server a command talks to, and how it answers. */
final class ServerOptions {

  @Option(
      names = "--server",
      paramLabel = "HOST:PORT",
      defaultValue = "${env:KAGZI_SERVER:-127.0.0.1:50051}",
      description = "Where the server is (default: ${DEFAULT-VALUE}).")
  private String server = "";

  @Option(
      names = "--namespace",
      paramLabel = "NAME",
      defaultValue = "${env:KAGZI_NAMESPACE:-default}",
      description = "Whose runs (default: ${DEFAULT-VALUE}).")
  private String namespace = "";

  @Option(names = "--json", description = "Answer as JSON.")
  private boolean json;

  RemoteServer connect() {
    return RemoteServer.connect(server, namespace);
  }

  boolean json() {
    return json;
  }
}
