package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.NamespaceServiceGrpc;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import io.grpc.protobuf.ProtoFileDescriptorSupplier;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The calls, names, numbers and types of public-contract.txt are unchanged, so that clients
 * generated from the original protocol files keep working.
 */
class PublicContractTest {
  private static final int ADDED_NUMBER_MIN = 100;
  private static final int CALLS = 42;

  private final Set<FileDescriptor> files = files();
  private final List<String> contract = contract();

  @Test
  void everything_in_the_contract_is_unchanged() {
    assertThat(described()).containsAll(contract);
    assertThat(contract).filteredOn(line -> line.startsWith("call ")).hasSize(CALLS);
  }

  @Test
  void fields_that_were_added_to_messages_of_the_contract_have_numbers_from_100_up() {
    Set<String> messages =
        contract.stream()
            .filter(line -> !line.startsWith("call ") && !line.startsWith("enum "))
            .map(line -> line.replace("message ", "").split("\\.", 2)[0])
            .collect(Collectors.toSet());

    Stream<String> added =
        messages()
            .filter(message -> messages.contains(message.getName()))
            .flatMap(message -> message.getFields().stream())
            .filter(field -> field.getNumber() < ADDED_NUMBER_MIN)
            .map(PublicContractTest::line)
            .filter(line -> !contract.contains(line));
    assertThat(added).isEmpty();
  }

  private static Set<FileDescriptor> files() {
    return Stream.of(
            WorkflowServiceGrpc.getServiceDescriptor(),
            WorkerServiceGrpc.getServiceDescriptor(),
            WorkflowScheduleServiceGrpc.getServiceDescriptor(),
            AdminServiceGrpc.getServiceDescriptor(),
            NamespaceServiceGrpc.getServiceDescriptor())
        .map(service -> (ProtoFileDescriptorSupplier) service.getSchemaDescriptor())
        .map(schema -> Objects.requireNonNull(schema).getFileDescriptor())
        .flatMap(file -> Stream.concat(Stream.of(file), file.getDependencies().stream()))
        .collect(Collectors.toSet());
  }

  private static List<String> contract() {
    try (InputStream in = PublicContractTest.class.getResourceAsStream("public-contract.txt")) {
      String text = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
      return text.lines().filter(line -> !line.startsWith("#")).toList();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private Stream<Descriptor> messages() {
    return files.stream().flatMap(file -> file.getMessageTypes().stream());
  }

  private Set<String> described() {
    Set<String> lines = new TreeSet<>();
    for (FileDescriptor file : files) {
      for (ServiceDescriptor service : file.getServices()) {
        service.getMethods().forEach(call -> lines.add(line(call)));
      }
      for (EnumDescriptor type : file.getEnumTypes()) {
        type.getValues()
            .forEach(
                value ->
                    lines.add(
                        "enum %s.%s = %d"
                            .formatted(type.getName(), value.getName(), value.getNumber())));
      }
    }
    messages().forEach(message -> lines.add("message " + message.getName()));
    messages()
        .flatMap(message -> message.getFields().stream())
        .forEach(field -> lines.add(line(field)));
    return lines;
  }

  /** A call that streams is described as such, so it does not match a call of the contract. */
  private static String line(MethodDescriptor call) {
    return "call %s.%s: %s%s -> %s%s"
        .formatted(
            call.getService().getName(),
            call.getName(),
            call.isClientStreaming() ? "stream " : "",
            call.getInputType().getName(),
            call.isServerStreaming() ? "stream " : "",
            call.getOutputType().getName());
  }

  private static String line(FieldDescriptor field) {
    return "%s.%s = %d %s"
        .formatted(
            field.getContainingType().getName(),
            field.getName(),
            field.getNumber(),
            field.isMapField() ? map(field.getMessageType()) : label(field) + type(field));
  }

  private static String map(Descriptor entry) {
    return "map<%s, %s>"
        .formatted(type(entry.findFieldByNumber(1)), type(entry.findFieldByNumber(2)));
  }

  private static String label(FieldDescriptor field) {
    if (field.isRepeated()) {
      return "repeated ";
    }
    return field.toProto().getProto3Optional() ? "optional " : "";
  }

  private static String type(FieldDescriptor field) {
    return switch (field.getJavaType()) {
      case MESSAGE -> field.getMessageType().getFullName().replace("kagzi.v1.", "");
      case ENUM -> field.getEnumType().getName();
      default -> field.getType().name().toLowerCase(Locale.ROOT);
    };
  }
}
