package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.NamespaceServiceGrpc;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import io.grpc.protobuf.ProtoFileDescriptorSupplier;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Every call and field of the protocol occurs in a test of this module: a call is made, a request
 * field is set, a response field is read. A new one needs a test, or a reason here. Access by
 * reflection does not count.
 */
class ProtocolCoverageTest {

  /** Fields without a test, each with its reason. A field with a test must not be listed. */
  private static final Map<String, String> WITHOUT_TEST =
      Map.of(
          "StartWorkflowRequest.start_at", "refused; RefusedFieldsTest sets it by its name",
          "Workflow.priority", "there are no priorities yet, so it is never set",
          "Workflow.cron_expr", "only templates have one, and no call answers with a template",
          "Worker.capabilities", "of the first contract; a worker has no way to say any",
          "DrainWorkerResponse.error", "of the first contract; what fails is a status instead");

  /** Messages of which tests compare all fields at once with those that they sent. */
  private static final Set<String> COMPARED_AS_A_WHOLE =
      Set.of("ErrorDetail", "RetryPolicy", "TypeVersion", "WorkflowTypeConcurrency");

  private static final String PROTOCOL = "dev.kagzi.protocol.v1.";

  /**
   * Methods of generated classes that tests call: "Workflow.getRunId", "Workflow$Builder.setRunId".
   */
  private static Set<String> calls;

  @BeforeAll
  static void readTests() {
    JavaClasses tests =
        new ClassFileImporter()
            .withImportOption(new ImportOption.OnlyIncludeTests())
            .importPackages("dev.kagzi.server");
    calls =
        tests.stream()
            .flatMap(ProtocolCoverageTest::used)
            .filter(name -> name.startsWith(PROTOCOL))
            .map(name -> name.substring(PROTOCOL.length()))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(calls).contains("Workflow.getStatus", "StartWorkflowRequest$Builder.setTaskQueue");
  }

  private static Stream<String> used(JavaClass test) {
    return Stream.concat(
            test.getMethodCallsFromSelf().stream(), test.getMethodReferencesFromSelf().stream())
        .map(call -> call.getTargetOwner().getName() + "." + call.getTarget().getName());
  }

  private static List<FileDescriptor> files() {
    return Stream.of(
            WorkflowServiceGrpc.getServiceDescriptor(),
            WorkerServiceGrpc.getServiceDescriptor(),
            WorkflowScheduleServiceGrpc.getServiceDescriptor(),
            AdminServiceGrpc.getServiceDescriptor(),
            NamespaceServiceGrpc.getServiceDescriptor())
        .map(service -> (ProtoFileDescriptorSupplier) service.getSchemaDescriptor())
        .map(ProtoFileDescriptorSupplier::getFileDescriptor)
        .toList();
  }

  private static List<MethodDescriptor> methods() {
    return files().stream()
        .flatMap(file -> file.getServices().stream())
        .map(ServiceDescriptor::getMethods)
        .flatMap(List::stream)
        .toList();
  }

  @Test
  void every_call_is_made_by_a_test() {
    Set<String> missing = new TreeSet<>();
    for (MethodDescriptor method : methods()) {
      String service = method.getService().getName() + "Grpc$" + method.getService().getName();
      String name =
          method.getName().substring(0, 1).toLowerCase(Locale.ROOT) + method.getName().substring(1);
      boolean called =
          Stream.of("BlockingStub", "Stub", "FutureStub")
              .anyMatch(stub -> calls.contains(service + stub + "." + name));
      if (!called) {
        missing.add(method.getFullName());
      }
    }

    assertThat(missing).isEmpty();
  }

  @Test
  void every_field_is_set_or_read_by_a_test_or_has_a_reason() {
    Set<Descriptor> sent =
        reachable(methods().stream().map(MethodDescriptor::getInputType).toList());
    Set<Descriptor> answered =
        reachable(methods().stream().map(MethodDescriptor::getOutputType).toList());
    Set<Descriptor> all = new LinkedHashSet<>(sent);
    all.addAll(answered);
    Map<String, String> missing = new TreeMap<>();
    Set<String> tested = new HashSet<>();
    for (Descriptor message : all) {
      for (FieldDescriptor field : message.getFields()) {
        String name = name(message) + "." + field.getName();
        boolean set = !sent.contains(message) || isSet(field) || isOfEveryCall(message, field);
        boolean read =
            !answered.contains(message)
                || isRead(field)
                || (sent.contains(message) && COMPARED_AS_A_WHOLE.contains(name(message)));
        if (set && read) {
          tested.add(name);
        } else if (!WITHOUT_TEST.containsKey(name)) {
          missing.put(name, set ? "is never read" : "is never set");
        }
      }
    }

    assertThat(missing).isEmpty();
    assertThat(WITHOUT_TEST.keySet())
        .as("reasons for fields that have a test, or are none")
        .doesNotContainAnyElementsOf(tested)
        .allMatch(name -> all.stream().anyMatch(message -> hasField(message, name)));
  }

  private static boolean hasField(Descriptor message, String name) {
    return message.getFields().stream()
        .anyMatch(field -> name.equals(name(message) + "." + field.getName()));
  }

  /** Returns the messages and all that they contain, ours only. */
  private static Set<Descriptor> reachable(List<Descriptor> messages) {
    Set<Descriptor> found = new LinkedHashSet<>();
    Deque<Descriptor> open = new ArrayDeque<>(messages);
    while (!open.isEmpty()) {
      Descriptor message = open.pop();
      boolean ours = message.getFile().getPackage().equals("kagzi.v1");
      if (ours && !message.getOptions().getMapEntry() && found.add(message)) {
        message.getFields().stream()
            .filter(field -> field.getJavaType() == FieldDescriptor.JavaType.MESSAGE)
            .forEach(field -> open.push(field.getMessageType()));
      }
    }
    return found;
  }

  /** Returns the short name: "ReportItem.StepDone". */
  private static String name(Descriptor message) {
    return message.getFullName().substring("kagzi.v1.".length());
  }

  /** IsolationTest sets the namespace of every call by reflection. */
  private static boolean isOfEveryCall(Descriptor message, FieldDescriptor field) {
    return message.getName().endsWith("Request") && field.getName().equals("namespace");
  }

  private static boolean isSet(FieldDescriptor field) {
    String name = camelCase(field.getName());
    return any(
        className(field) + "$Builder",
        List.of(
            "set" + name,
            "set" + name + "Value",
            "add" + name,
            "addAll" + name,
            "put" + name,
            "putAll" + name,
            "get" + name + "Builder",
            "add" + name + "Builder"));
  }

  private static boolean isRead(FieldDescriptor field) {
    String name = camelCase(field.getName());
    return any(
        className(field),
        List.of(
            "get" + name,
            "has" + name,
            "get" + name + "List",
            "get" + name + "Count",
            "get" + name + "Map",
            "get" + name + "OrThrow",
            "get" + name + "OrDefault",
            "contains" + name));
  }

  private static boolean any(String owner, List<String> names) {
    return names.stream().anyMatch(name -> calls.contains(owner + "." + name));
  }

  private static String className(FieldDescriptor field) {
    return name(field.getContainingType()).replace('.', '$');
  }

  private static String camelCase(String field) {
    return Arrays.stream(field.split("_", -1))
        .map(word -> word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1))
        .collect(Collectors.joining());
  }
}
