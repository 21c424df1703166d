package dev.kagzi.cli;

import dev.kagzi.protocol.v1.CreateNamespaceRequest;
import dev.kagzi.protocol.v1.DisableNamespaceRequest;
import dev.kagzi.protocol.v1.EnableNamespaceRequest;
import dev.kagzi.protocol.v1.GetNamespaceRequest;
import dev.kagzi.protocol.v1.ListNamespacesRequest;
import dev.kagzi.protocol.v1.ListNamespacesResponse;
import dev.kagzi.protocol.v1.Namespace;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.UpdateNamespaceRequest;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "namespace",
    description = "Creates, updates and lists namespaces.",
    synopsisSubcommandLabel = "COMMAND",
    footer = "")
final class NamespaceCommand extends CommandGroup {

  /** A command about one namespace that prints it. */
  abstract static class One extends RemoteCommand {

    @Parameters(paramLabel = "NAME", description = "The namespace.")
    private String name = "";

    abstract Namespace call(RemoteServer server, String name);

    @Override
    final int run(RemoteServer server, Output output) {
      Namespace now = call(server, name);
      output.print(now, () -> text(now));
      return ExitCode.DONE;
    }
  }

  @Command(name = "create", description = "Creates a namespace.")
  static final class Create extends One {

    @Option(names = "--display-name", paramLabel = "TEXT", defaultValue = "")
    private String displayName = "";

    @Option(names = "--description", paramLabel = "TEXT")
    private @Nullable String description;

    @Mixin private RetentionOption retention = new RetentionOption();

    @Override
    Namespace call(RemoteServer server, String name) {
      CreateNamespaceRequest.Builder request =
          CreateNamespaceRequest.newBuilder().setNamespace(name).setDisplayName(displayName);
      if (description != null) {
        request.setDescription(description);
      }
      Long retentionMs = retention.ms();
      if (retentionMs != null) {
        request.setRetentionMs(retentionMs);
      }
      return server.call(() -> server.namespaces().createNamespace(request.build())).getNamespace();
    }
  }

  @Command(name = "list", description = "Lists namespaces.")
  static final class All extends ListCommand<Namespace> {

    All() {
      super("namespaces");
    }

    @Override
    Function<PageRequest, ListPart<Namespace>> pages(RemoteServer server) {
      return page -> {
        ListNamespacesRequest request = ListNamespacesRequest.newBuilder().setPage(page).build();
        ListNamespacesResponse found =
            server.call(() -> server.namespaces().listNamespaces(request));
        return ListPart.of(found.getNamespacesList(), found.getPage());
      };
    }

    @Override
    void checkEmpty(RemoteServer server) {
      // The list is not of one namespace, so there is no name to check.
    }

    @Override
    String text(List<Namespace> namespaces) {
      Table table = new Table().row("NAMESPACE", "ENABLED", "RETENTION", "CREATED", "DISPLAY NAME");
      for (Namespace each : namespaces) {
        table.row(
            each.getNamespace(),
            each.getEnabled() ? "yes" : "no",
            retention(each),
            RunText.time(each.getCreatedAt()),
            each.getDisplayName());
      }
      return table.text("");
    }
  }

  @Command(name = "get", description = "Shows a namespace.")
  static final class Get extends One {

    @Override
    Namespace call(RemoteServer server, String name) {
      GetNamespaceRequest request = GetNamespaceRequest.newBuilder().setNamespace(name).build();
      return server.call(() -> server.namespaces().getNamespace(request)).getNamespace();
    }
  }

  @Command(name = "update", description = "Updates the given options; the others stay unchanged.")
  static final class Update extends One {

    @Option(names = "--display-name", paramLabel = "TEXT")
    private @Nullable String displayName;

    @Option(names = "--description", paramLabel = "TEXT")
    private @Nullable String description;

    @Option(
        names = "--clear-failure-handler",
        description =
            "Removes the namespace's failure handler, until a worker registers one again.")
    private boolean clearFailureHandler;

    @Mixin private RetentionOption retention = new RetentionOption();

    @Override
    Namespace call(RemoteServer server, String name) {
      UpdateNamespaceRequest.Builder request =
          UpdateNamespaceRequest.newBuilder().setNamespace(name);
      if (displayName != null) {
        request.setDisplayName(displayName);
      }
      if (description != null) {
        request.setDescription(description);
      }
      Long retentionMs = retention.ms();
      if (retentionMs != null) {
        request.setRetentionMs(retentionMs);
      }
      request.setClearRetention(retention.isDefault());
      request.setClearFailureHandler(clearFailureHandler);
      return server.call(() -> server.namespaces().updateNamespace(request.build())).getNamespace();
    }
  }

  @Command(name = "enable", description = "Enables a disabled namespace; its runs continue.")
  static final class Enable extends One {

    @Override
    Namespace call(RemoteServer server, String name) {
      EnableNamespaceRequest request =
          EnableNamespaceRequest.newBuilder().setNamespace(name).build();
      return server.call(() -> server.namespaces().enableNamespace(request)).getNamespace();
    }
  }

  @Command(
      name = "disable",
      description = "Disables a namespace: it accepts no starts and dispatches no runs.")
  static final class Disable extends One {

    @Override
    Namespace call(RemoteServer server, String name) {
      DisableNamespaceRequest request =
          DisableNamespaceRequest.newBuilder().setNamespace(name).build();
      return server.call(() -> server.namespaces().disableNamespace(request)).getNamespace();
    }
  }

  private static String text(Namespace namespace) {
    return new Table()
        .row("namespace", namespace.getNamespace())
        .row("enabled", namespace.getEnabled() ? "yes" : "no")
        .row("display name", namespace.getDisplayName())
        .row("description", namespace.getDescription())
        .row("retention", retention(namespace))
        .row("failure handler", failureHandler(namespace))
        .row("created", RunText.time(namespace.getCreatedAt()))
        .row("updated", RunText.time(namespace.getUpdatedAt()))
        .text("");
  }

  private static String failureHandler(Namespace namespace) {
    String queue = namespace.getFailureHandlerTaskQueue();
    return queue.isEmpty() ? "none" : "registered on queue " + queue;
  }

  private static String retention(Namespace namespace) {
    return namespace.hasRetentionMs()
        ? RetentionOption.text(Duration.ofMillis(namespace.getRetentionMs()))
        : "default";
  }
}
