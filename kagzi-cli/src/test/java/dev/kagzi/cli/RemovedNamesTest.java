package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.NamespaceServiceGrpc;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import io.grpc.protobuf.ProtoFileDescriptorSupplier;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Names that were given up because a stranger could not guess them, or because what they named was
 * deleted. They must not come back.
 */
class RemovedNamesTest {
  /** Types anywhere in the published modules. */
  private static final Set<String> TYPES =
      Set.of(
          "Around",
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
          "Judge",
          "LookGroup",
          "Moves",
          "Nearest",
          "Notice",
          "Parts",
          "Protos",
          "Reading",
          "Recent",
          "Records",
          "RenewNamespaces",
          "ResumeNews",
          "Room",
          "RunJudge",
          "StandingPoll",
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

  private static final Set<String> PACKAGES =
      Set.of("dev.kagzi.engine.notice", "dev.kagzi.engine.report", "dev.kagzi.engine.task");

  /** Fields, messages and services of the protocol. */
  private static final Set<String> PROTOCOL =
      Set.of(
          "ExchangeService",
          "ExchangeRequest",
          "ExchangeResponse",
          "Confirm",
          "confirm",
          "starting",
          "takes_starting");

  /** Tables, columns and indexes. */
  private static final Set<String> CATALOG =
      Set.of("became", "counts", "duties", "duty", "was", "workflow_runs_unhappy");

  @Test
  void no_type_or_package_has_a_removed_name() {
    List<JavaClass> classes =
        new ClassFileImporter()
                .importPackages(
                    "dev.kagzi.engine", "dev.kagzi.server", "dev.kagzi.sdk", "dev.kagzi.cli")
                .stream()
                .filter(type -> !type.getName().endsWith("Test"))
                .toList();
    Set<String> types = new TreeSet<>();
    Set<String> packages = new TreeSet<>();
    for (JavaClass type : classes) {
      types.add(type.getSimpleName());
      packages.add(type.getPackageName());
    }

    assertThat(types).isNotEmpty().doesNotContainAnyElementsOf(TYPES);
    assertThat(packages)
        .contains("dev.kagzi.engine.dispatch")
        .doesNotContainAnyElementsOf(PACKAGES);
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

    assertThat(names).contains("run_id").doesNotContainAnyElementsOf(PROTOCOL);
  }

  private static void addFile(FileDescriptor file, Set<String> names, Set<String> seen) {
    if (!file.getPackage().startsWith("kagzi.") || !seen.add(file.getName())) {
      return;
    }
    file.getServices().stream().map(ServiceDescriptor::getName).forEach(names::add);
    file.getMessageTypes().forEach(message -> addMessage(message, names));
    file.getDependencies().forEach(each -> addFile(each, names, seen));
  }

  private static void addMessage(Descriptor message, Set<String> names) {
    names.add(message.getName());
    message.getFields().stream().map(FieldDescriptor::getName).forEach(names::add);
    message.getNestedTypes().forEach(nested -> addMessage(nested, names));
  }

  /** The migration makes the whole catalog. */
  @Test
  void nothing_in_the_catalog_has_a_removed_name() throws IOException {
    String sql;
    try (InputStream migration =
        Objects.requireNonNull(
            dev.kagzi.engine.Engine.class.getResourceAsStream("migration/V1__schema.sql"))) {
      sql = new String(migration.readAllBytes(), StandardCharsets.UTF_8);
    }
    String statements = Pattern.compile("--[^\\n]*").matcher(sql).replaceAll("");

    for (String name : CATALOG) {
      assertThat(Pattern.compile("\\b" + name + "\\b").matcher(statements).find())
          .as("%s in the migration", name)
          .isFalse();
    }
  }
}
