package dev.kagzi.server;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import dev.kagzi.protocol.v1.BeginStepRequest;
import dev.kagzi.protocol.v1.BeginStepResponse;
import dev.kagzi.protocol.v1.CompleteStepRequest;
import dev.kagzi.protocol.v1.CompleteWorkflowRequest;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.FailStepRequest;
import dev.kagzi.protocol.v1.FailStepResponse;
import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.PollTaskRequest;
import dev.kagzi.protocol.v1.PollTaskResponse;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.RegisterResponse;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.SleepRequest;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A worker made of bare stubs that knows only the base protocol: it sends no field from number 100
 * up, and fails the test if it does.
 */
public final class BareWorker implements AutoCloseable {
  private final ManagedChannel channel;
  private final String queue;
  private final List<String> types;
  private final RegisterResponse registered;

  public BareWorker(TestServer server, String queue, String host, int pid, String... types) {
    this.channel = server.channel(new OldFieldsOnly());
    this.queue = queue;
    this.types = List.of(types);
    this.registered =
        stub()
            .register(
                RegisterRequest.newBuilder()
                    .setTaskQueue(queue)
                    .addAllWorkflowTypes(this.types)
                    .setHostname(host)
                    .setPid(pid)
                    .build());
  }

  /** Returns stubs of the base protocol over a new connection that no worker has used. */
  static WorkerServiceGrpc.WorkerServiceBlockingStub stub(ManagedChannel channel) {
    return WorkerServiceGrpc.newBlockingStub(channel)
        .withInterceptors(new OldFieldsOnly())
        .withDeadlineAfter(20, TimeUnit.SECONDS);
  }

  public String id() {
    return registered.getWorkerId();
  }

  public int heartbeatIntervalSecs() {
    return registered.getHeartbeatIntervalSecs();
  }

  public WorkerServiceGrpc.WorkerServiceBlockingStub stub() {
    return WorkerServiceGrpc.newBlockingStub(channel).withDeadlineAfter(20, TimeUnit.SECONDS);
  }

  /** Waits for a task; the run id is empty if none came. */
  public PollTaskResponse poll() {
    return stub()
        .pollTask(
            PollTaskRequest.newBuilder()
                .setWorkerId(id())
                .setTaskQueue(queue)
                .addAllWorkflowTypes(types)
                .build());
  }

  public BeginStepResponse begin(String runId, String step) {
    return begin(runId, step, StepKind.STEP_KIND_FUNCTION, RetryPolicy.getDefaultInstance());
  }

  public BeginStepResponse begin(String runId, String step, StepKind kind, RetryPolicy policy) {
    return stub()
        .beginStep(
            BeginStepRequest.newBuilder()
                .setRunId(runId)
                .setStepName(step)
                .setKind(kind)
                .setRetryPolicy(policy)
                .build());
  }

  public void complete(String runId, String stepId, Payload output) {
    stub()
        .completeStep(
            CompleteStepRequest.newBuilder()
                .setRunId(runId)
                .setStepId(stepId)
                .setOutput(output)
                .build());
  }

  public FailStepResponse fail(String runId, String stepId, String why) {
    return stub()
        .failStep(
            FailStepRequest.newBuilder()
                .setRunId(runId)
                .setStepId(stepId)
                .setError(ErrorDetail.newBuilder().setMessage(why))
                .build());
  }

  public void sleep(String runId, String stepId, Duration length) {
    stub()
        .sleep(
            SleepRequest.newBuilder()
                .setRunId(runId)
                .setStepId(stepId)
                .setDuration(
                    com.google.protobuf.Duration.newBuilder()
                        .setSeconds(length.getSeconds())
                        .setNanos(length.getNano()))
                .build());
  }

  public WorkflowStatus complete(String runId, Payload output) {
    return stub()
        .completeWorkflow(
            CompleteWorkflowRequest.newBuilder().setRunId(runId).setOutput(output).build())
        .getStatus();
  }

  public boolean heartbeat() {
    return stub().heartbeat(HeartbeatRequest.newBuilder().setWorkerId(id()).build()).getAccepted();
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }

  private static final class OldFieldsOnly implements ClientInterceptor {
    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(
        MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
      return new ForwardingClientCall.SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void sendMessage(Q message) {
          check((Message) message);
          super.sendMessage(message);
        }
      };
    }

    private static void check(Message message) {
      message.getAllFields().forEach(OldFieldsOnly::check);
    }

    private static void check(FieldDescriptor field, Object value) {
      if (field.getNumber() >= 100) {
        throw new AssertionError(field.getFullName() + " is no field of the first contract");
      }
      if (value instanceof Message inner) {
        check(inner);
      } else if (value instanceof List<?> list) {
        list.stream().filter(Message.class::isInstance).forEach(one -> check((Message) one));
      }
    }
  }
}
