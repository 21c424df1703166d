package dev.kagzi.cli;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.NamespaceServiceGrpc;
import dev.kagzi.protocol.v1.PageInfo;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The training run for the class archive with which Java starts short commands faster. It executes
 * a command of each kind, so that the JVM loads all their classes and writes them to the archive at
 * its end. A server in this process answers; it has no runs and fills every response with sample
 * values.
 */
final class ClassArchiveTraining {
  private static final String RUN = "01890a5d-ac96-774b-bcce-b302099a8057";

  private static final List<List<String>> COMMANDS =
      List.of(
          List.of("--help"),
          List.of("dev", "--help"),
          List.of("version"),
          List.of("health"),
          List.of("workflow", "list"),
          List.of("workflow", "list", "-o", "json"),
          List.of("workflow", "get", RUN),
          List.of("workflow", "get", "order-42"),
          List.of("workflow", "steps", RUN),
          List.of("workflow", "start", "order", "--queue", "orders", "--input", "{}"),
          List.of("workflow", "cancel", RUN),
          List.of("workflow", "retry", RUN),
          List.of("workflow", "resume", RUN),
          List.of("schedule", "list"),
          List.of("schedule", "get", "nightly"),
          List.of("namespace", "list"),
          List.of("worker", "list"),
          List.of("worker", "events", RUN),
          List.of("queue", "list"),
          List.of("stats"),
          List.of("top", "--once", "--interval", "100ms"),
          List.of("doctor"),
          List.of("type", "list"));

  private static final List<ServiceDescriptor> SERVICES =
      List.of(
          WorkflowServiceGrpc.getServiceDescriptor(),
          WorkflowScheduleServiceGrpc.getServiceDescriptor(),
          NamespaceServiceGrpc.getServiceDescriptor(),
          AdminServiceGrpc.getServiceDescriptor());

  private static final int DEPTH_MAX = 3;
  private static final Duration TIME_MAX = Duration.ofSeconds(30);

  private ClassArchiveTraining() {}

  /** Executes the commands; the launcher calls it after a build. */
  public static void main(String[] args) throws IOException {
    Server server = startServer();
    endAfter(TIME_MAX);
    try {
      for (List<String> command : COMMANDS) {
        execute(command, "127.0.0.1:" + server.getPort());
      }
      // Also trains the path of a command that reaches no server.
      execute(List.of("workflow", "list"), "127.0.0.1:1");
    } finally {
      server.shutdownNow();
    }
  }

  /**
   * Ends this JVM after that time: the launcher waits for the training run, so it must not hang.
   */
  private static void endAfter(Duration time) {
    CountDownLatch never = new CountDownLatch(1);
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                never.await(time.toMillis(), TimeUnit.MILLISECONDS);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              Runtime.getRuntime().halt(1);
            });
  }

  /** The result does not matter, only that the command's classes are loaded. */
  private static void execute(List<String> command, String address) {
    List<String> all = new ArrayList<>(command);
    if (!command.contains("--help") && !command.contains("version")) {
      all.addAll(List.of("--address", address));
    }
    String[] words = all.toArray(String[]::new);
    PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
    Main.commandLine(CommandTree.of(words)).setOut(nowhere).setErr(nowhere).execute(words);
  }

  /** Starts a server that answers every unary call of the public services. */
  static Server startServer() throws IOException {
    NettyServerBuilder server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    SERVICES.forEach(service -> server.addService(answering(service)));
    return server.build().start();
  }

  private static ServerServiceDefinition answering(ServiceDescriptor service) {
    ServerServiceDefinition.Builder answers = ServerServiceDefinition.builder(service);
    for (MethodDescriptor<?, ?> method : service.getMethods()) {
      add(answers, method);
    }
    return answers.build();
  }

  @SuppressWarnings("unchecked") // The generated marshaller's prototype has the response's type.
  private static <Q, A> void add(
      ServerServiceDefinition.Builder answers, MethodDescriptor<Q, A> method) {
    A response =
        (A)
            sample(
                (Message)
                    ((MethodDescriptor.PrototypeMarshaller<A>) method.getResponseMarshaller())
                        .getMessagePrototype(),
                DEPTH_MAX);
    if (method.getType() == MethodType.UNARY) {
      answers.addMethod(
          method,
          ServerCalls.asyncUnaryCall(
              (request, caller) -> {
                caller.onNext(response);
                caller.onCompleted();
              }));
    } else {
      answers.addMethod(
          method, ServerCalls.asyncServerStreamingCall((request, caller) -> caller.onCompleted()));
    }
  }

  private static Message sample(Message prototype, int depth) {
    Message.Builder message = prototype.newBuilderForType();
    // A page token in the samples would make lists fetch pages forever.
    if (depth == 0 || prototype instanceof PageInfo) {
      return message.build();
    }
    for (FieldDescriptor field : prototype.getDescriptorForType().getFields()) {
      if (field.isRepeated()) {
        if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE && !field.isMapField()) {
          message.addRepeatedField(
              field, sample(message.newBuilderForField(field).build(), depth - 1));
        }
      } else {
        message.setField(field, value(message, field, depth));
      }
    }
    return message.build();
  }

  private static Object value(Message.Builder message, FieldDescriptor field, int depth) {
    return switch (field.getJavaType()) {
      case MESSAGE -> sample(message.newBuilderForField(field).build(), depth - 1);
      case STRING -> RUN;
      case ENUM ->
          field.getEnumType().equals(WorkflowStatus.getDescriptor())
              ? WorkflowStatus.WORKFLOW_STATUS_COMPLETED.getValueDescriptor()
              : field.getEnumType().findValueByNumber(1);
      case BOOLEAN, INT, LONG, FLOAT, DOUBLE, BYTE_STRING -> field.getDefaultValue();
    };
  }
}
