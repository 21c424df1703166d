package dev.kagzi.cli;

import dev.kagzi.protocol.v1.GetServerInfoRequest;
import dev.kagzi.protocol.v1.GetServerInfoResponse;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import tools.jackson.databind.node.ObjectNode;

@Command(
    name = "version",
    description = "Shows the version of this program; with --address also that of the server.",
    footer = "")
final class VersionCommand implements Runnable {

  @Spec private CommandSpec spec = CommandSpec.create();

  /** {@link ServerOptions#of} merges these with the options of parent commands. */
  @Mixin ServerOptions options = new ServerOptions();

  @Override
  public void run() {
    ServerOptions all = ServerOptions.of(spec);
    ObjectNode json = MessageJson.empty();
    json.put("version", Main.Version.current());
    json.put("java", Runtime.version().feature());
    StringBuilder text = new StringBuilder(new Main.Version().getVersion()[0]);
    if (all.hasAddress()) {
      GetServerInfoResponse server = fetchServerInfo(all);
      json.set("server", MessageJson.of(server));
      text.append("\nserver ").append(PlainLine.of(server.getVersion()));
    }
    new Output(all.isJson(), spec.commandLine().getOut(), spec.commandLine().getErr())
        .print(json, text::toString);
  }

  private static GetServerInfoResponse fetchServerInfo(ServerOptions options) {
    try (RemoteServer server = options.connect()) {
      return server.call(
          () -> server.admin().getServerInfo(GetServerInfoRequest.getDefaultInstance()));
    }
  }
}
