package dev.kagzi.cli;

import dev.kagzi.protocol.v1.DiagnoseRequest;
import dev.kagzi.protocol.v1.Finding;
import dev.kagzi.protocol.v1.FindingStatus;
import dev.kagzi.protocol.v1.FoundRun;
import dev.kagzi.protocol.v1.GetServerInfoRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import tools.jackson.databind.node.ObjectNode;

@Command(
    name = "doctor",
    description = {
      "Checks a server, its database and its runs for known problems.",
      "The server makes the checks, so no access to the database is needed. They change nothing."
    },
    footer = {
      "",
      "Exit code: 0 all ok, 6 only warnings, 7 at least one failure. Nothing was checked: 4 no",
      "server answered, 1 the server refused, for example because of a wrong token.",
      "",
      "Example:",
      "  kagzi doctor --address db-host:50051 || echo \"see kagzi doctor\""
    })
final class DoctorCommand extends RemoteCommand {
  private static final long SECONDS_MAX = 60;
  private static final String UNPACKAGED = "unpackaged";

  /** The server's error code; docs/errors.md has all. */
  private static final String DATABASE_AWAY = "UNAVAILABLE";

  @Override
  int run(RemoteServer server, Output output) {
    List<Finding> findings = new ArrayList<>();
    findings.add(version(server));
    findings.addAll(diagnose(server));
    print(output, findings);
    return switch (worst(findings)) {
      case FINDING_STATUS_FAILURE -> ExitCode.FAILURES;
      case FINDING_STATUS_WARNING -> ExitCode.WARNINGS;
      default -> ExitCode.DONE;
    };
  }

  /**
   * A server that cannot reach its database is a finding. If the server does not answer or refuses
   * the call, nothing was checked, and the command fails like any other.
   */
  private static List<Finding> diagnose(RemoteServer server) {
    try {
      return server
          .call(
              () ->
                  server
                      .admin()
                      .withDeadlineAfter(SECONDS_MAX, TimeUnit.SECONDS)
                      .diagnose(DiagnoseRequest.getDefaultInstance()))
          .getFindingsList();
    } catch (CliException failed) {
      if (!RemoteServer.errorCode(failed).equals(DATABASE_AWAY)) {
        throw failed;
      }
      return List.of(
          finding("SERVER", FindingStatus.FINDING_STATUS_FAILURE, failed.getMessage())
              .setAdvice("start PostgreSQL, or see why it does not answer; the server reconnects")
              .build());
    }
  }

  private static Finding version(RemoteServer server) {
    String other =
        server
            .call(() -> server.admin().getServerInfo(GetServerInfoRequest.getDefaultInstance()))
            .getVersion();
    String own = Main.Version.current();
    return own.equals(other) || own.equals(UNPACKAGED)
        ? finding("VERSION", FindingStatus.FINDING_STATUS_OK, "the server has version " + other)
            .build()
        : finding(
                "VERSION",
                FindingStatus.FINDING_STATUS_WARNING,
                "the server has version %s (expected: %s, as this program)".formatted(other, own))
            .setAdvice("use the program of the server's release")
            .build();
  }

  private static Finding.Builder finding(
      String check, FindingStatus status, @Nullable String message) {
    return Finding.newBuilder()
        .setCheck(check)
        .setStatus(status)
        .setMessage(String.valueOf(message));
  }

  private static FindingStatus worst(List<Finding> findings) {
    return findings.stream()
        .map(Finding::getStatus)
        .filter(status -> status != FindingStatus.UNRECOGNIZED)
        .max(Comparator.naturalOrder())
        .orElse(FindingStatus.FINDING_STATUS_OK);
  }

  private static void print(Output output, List<Finding> findings) {
    ObjectNode json = new ListPart<>(findings, "").json("findings");
    json.remove("nextPageToken");
    json.put("status", name(worst(findings)));
    output.print(json, () -> text(findings));
  }

  private static String text(List<Finding> findings) {
    Table table = new Table().row("STATUS", "CHECK", "FOUND");
    for (Finding finding : findings) {
      table.row(name(finding.getStatus()), finding.getCheck(), finding.getMessage());
      if (!finding.getAdvice().isEmpty()) {
        table.row("", "", "do: " + finding.getAdvice());
      }
      finding.getRunsList().forEach(run -> table.row("", "", line(run)));
    }
    return table.text("")
        + "%d ok, %s, %s\n"
            .formatted(
                count(findings, FindingStatus.FINDING_STATUS_OK),
                Plural.of(count(findings, FindingStatus.FINDING_STATUS_WARNING), "warning"),
                Plural.of(count(findings, FindingStatus.FINDING_STATUS_FAILURE), "failure"));
  }

  private static String line(FoundRun run) {
    return "run %s of namespace %s: %s".formatted(run.getRunId(), run.getNamespace(), run.getWhy());
  }

  private static long count(List<Finding> findings, FindingStatus status) {
    return findings.stream().filter(finding -> finding.getStatus() == status).count();
  }

  private static String name(FindingStatus status) {
    return status.name().replaceFirst("^FINDING_STATUS_", "");
  }
}
