package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.NamespaceServiceGrpc;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import io.grpc.protobuf.ProtoFileDescriptorSupplier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Names that were given up because a stranger could not guess them, or because what they named was
 * deleted. They must not come back.
 */
class RemovedNamesTest {
  /** Types of all modules, without their tests. */
  private static final Set<String> TYPES =
      Set.of(
          "Around",
          "Blocking",
          "BuryStaleWorkers",
          "CallWatch",
          "Causes",
          "ChildJudge",
          "ClaimBook",
          "Comparison",
          "DeliverForgottenMessages",
          "Desk",
          "Duties",
          "EarlierStarts",
          "EarlyStarts",
          "EdgeRoom",
          "Ending",
          "Endings",
          "Exchange",
          "ExchangeEndpoint",
          "ExchangeStream",
          "ExchangedCall",
          "FailureNews",
          "FireSchedules",
          "ForgetOldRuns",
          "FreeForgottenClaims",
          "Gate",
          "Gates",
          "Handover",
          "Heartbeat",
          "Histories",
          "Judge",
          "LookGroup",
          "Moves",
          "NamespaceCheck",
          "Nearest",
          "Notice",
          "Parts",
          "Protos",
          "Reading",
          "Recent",
          "Records",
          "Registration",
          "RenewNamespaces",
          "Reservation",
          "ResumeNews",
          "Retention",
          "Room",
          "RunJudge",
          "Slots",
          "StandingPoll",
          "Starts",
          "StepJudge",
          "Strand",
          "TakePulse",
          "Together",
          "Unasked",
          "Wait",
          "Waits",
          "Weight",
          "Wiring",
          "Witness");

  /** Packages of the engine, with or without {@code internal}. */
  private static final Set<String> PACKAGES = Set.of("notice", "report", "task");

  /** Services, calls, messages, fields, oneofs, enums and their values. */
  private static final Set<String> PROTOCOL =
      Set.of(
          "Exchange",
          "ExchangeService",
          "ExchangeRequest",
          "ExchangeResponse",
          "Confirm",
          "confirm",
          "starting",
          "takes_starting");

  /** Tables, columns, indexes and functions. */
  private static final Set<String> CATALOG =
      Set.of(
          "became",
          "counts",
          "duties",
          "duty",
          "heard_epoch",
          "was",
          "went_on",
          "workflow_runs_unhappy");

  /**
   * Numbers of facts and faults in a paper that is not in the repository; W0 to W50 and C100 are
   * loads.
   */
  private static final Pattern PAPER =
      Pattern.compile(
          "\\b(?:R\\d{1,3}|C(?!100\\b)\\d{1,3}|W(?!(?:0|5|50)\\b)\\d{1,3})\\b|(?i:first design)");

  private static final Path ROOT = Path.of("..");

  @Test
  void no_type_or_package_has_a_removed_name() throws IOException {
    Pattern declaration = Pattern.compile("\\b(?:class|record|interface|enum)\\s+([A-Z]\\w*)");
    Set<String> types = new TreeSet<>();
    Set<String> packages = new TreeSet<>();
    for (Path file : files("java")) {
      if (file.toString().contains("/src/main/java/")) {
        String code = COMMENT.matcher(Files.readString(file)).replaceAll("");
        declaration.matcher(code).results().forEach(type -> types.add(type.group(1)));
        packages.add(Objects.requireNonNull(file.getParent()).toString());
      }
    }

    assertThat(types)
        .contains("TaskQueue", "EmbeddedPostgres", "KagziEnv", "Torture", "LatencyBench")
        .doesNotContainAnyElementsOf(TYPES);
    assertThat(packages)
        .anyMatch(path -> path.endsWith("engine/internal/dispatch"))
        .noneMatch(path -> PACKAGES.stream().anyMatch(name -> isOfEngine(path, name)));
  }

  private static final Pattern COMMENT = Pattern.compile("(?s)/\\*.*?\\*/|//[^\\n]*");

  private static boolean isOfEngine(String path, String name) {
    return path.endsWith("dev/kagzi/engine/" + name)
        || path.endsWith("dev/kagzi/engine/internal/" + name);
  }

  @Test
  void nothing_refers_to_a_paper_that_is_not_in_the_repository() throws IOException {
    for (String kind : List.of("java", "md", "proto", "sql", "mjs")) {
      for (Path file : files(kind)) {
        if (!file.endsWith("RemovedNamesTest.java")) {
          assertThat(Files.readString(file)).as("%s", file).doesNotContainPattern(PAPER);
        }
      }
    }
  }

  /** Returns the files of all modules with this ending, without what a build makes. */
  private static List<Path> files(String ending) throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      List<Path> found =
          files
              .filter(file -> file.toString().endsWith("." + ending))
              .filter(file -> !file.toString().matches(".*/(?:target|node_modules|\\.\\w+)/.*"))
              .toList();
      assertThat(found).as("files with the ending %s", ending).isNotEmpty();
      return found;
    }
  }

  @Test
  void nothing_in_the_protocol_has_a_removed_name() {
    Set<String> names = new TreeSet<>();
    Set<String> seen = new HashSet<>();
    for (io.grpc.ServiceDescriptor service :
        List.of(
            WorkflowServiceGrpc.getServiceDescriptor(),
            WorkerServiceGrpc.getServiceDescriptor(),
            WorkflowScheduleServiceGrpc.getServiceDescriptor(),
            NamespaceServiceGrpc.getServiceDescriptor(),
            AdminServiceGrpc.getServiceDescriptor())) {
      ProtoFileDescriptorSupplier schema =
          (ProtoFileDescriptorSupplier) Objects.requireNonNull(service.getSchemaDescriptor());
      addFile(schema.getFileDescriptor(), names, seen);
    }

    assertThat(names)
        .contains("run_id", "StartWorkflow", "OverlapPolicy", "WORKER_STATUS_ONLINE", "event")
        .doesNotContainAnyElementsOf(PROTOCOL);
  }

  private static void addFile(FileDescriptor file, Set<String> names, Set<String> seen) {
    if (!file.getPackage().startsWith("kagzi.") || !seen.add(file.getName())) {
      return;
    }
    for (ServiceDescriptor service : file.getServices()) {
      names.add(service.getName());
      service.getMethods().forEach(call -> names.add(call.getName()));
    }
    file.getEnumTypes().forEach(each -> addEnum(each, names));
    file.getMessageTypes().forEach(message -> addMessage(message, names));
    file.getDependencies().forEach(each -> addFile(each, names, seen));
  }

  private static void addMessage(Descriptor message, Set<String> names) {
    names.add(message.getName());
    message.getFields().stream().map(FieldDescriptor::getName).forEach(names::add);
    message.getOneofs().forEach(each -> names.add(each.getName()));
    message.getEnumTypes().forEach(each -> addEnum(each, names));
    message.getNestedTypes().forEach(nested -> addMessage(nested, names));
  }

  private static void addEnum(EnumDescriptor type, Set<String> names) {
    names.add(type.getName());
    type.getValues().forEach(value -> names.add(value.getName()));
  }

  /** The migrations make the whole catalog. */
  @Test
  void nothing_in_the_catalog_has_a_removed_name() throws IOException {
    for (Path migration : files("sql")) {
      String statements =
          Pattern.compile("--[^\\n]*").matcher(Files.readString(migration)).replaceAll("");
      for (String name : CATALOG) {
        assertThat(statements).as("%s", migration).doesNotContainPattern("\\b" + name + "\\b");
      }
    }
  }
}
