package dev.kagzi.cli;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.AdminServiceGrpc.AdminServiceBlockingStub;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.GetNamespaceRequest;
import dev.kagzi.protocol.v1.GetWorkflowByExternalIdRequest;
import dev.kagzi.protocol.v1.GetWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.NamespaceServiceGrpc;
import dev.kagzi.protocol.v1.NamespaceServiceGrpc.NamespaceServiceBlockingStub;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowSchedule;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc.WorkflowScheduleServiceBlockingStub;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc.WorkflowServiceBlockingStub;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.KagziException;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.security.GeneralSecurityException;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** A connection of a short command to a server: one call after another, without retries. */
final class RemoteServer implements AutoCloseable {

  private static final long CALL_SECONDS_MAX = 10;
  private static final Pattern UUID =
      Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

  private final Kagzi.Builder client;
  private final ManagedChannel channel;
  private final String address;
  private final String namespace;

  /**
   * Does not wait for the connection.
   *
   * @param client the options of the connection
   */
  RemoteServer(Kagzi.Builder client, String address, String namespace) {
    this.client = client;
    this.address = address;
    this.namespace = namespace;
    Logs.silence();
    this.channel = client.openChannel();
  }

  String namespace() {
    return namespace;
  }

  WorkflowServiceBlockingStub workflows() {
    return WorkflowServiceGrpc.newBlockingStub(channel)
        .withDeadlineAfter(CALL_SECONDS_MAX, TimeUnit.SECONDS);
  }

  NamespaceServiceBlockingStub namespaces() {
    return NamespaceServiceGrpc.newBlockingStub(channel)
        .withDeadlineAfter(CALL_SECONDS_MAX, TimeUnit.SECONDS);
  }

  AdminServiceBlockingStub admin() {
    return AdminServiceGrpc.newBlockingStub(channel)
        .withDeadlineAfter(CALL_SECONDS_MAX, TimeUnit.SECONDS);
  }

  WorkflowScheduleServiceBlockingStub schedules() {
    return WorkflowScheduleServiceGrpc.newBlockingStub(channel)
        .withDeadlineAfter(CALL_SECONDS_MAX, TimeUnit.SECONDS);
  }

  /**
   * Throws if the namespace does not exist. The default namespace always exists: the schema creates
   * it.
   */
  void requireNamespace() {
    if (!namespace.equals(Kagzi.DEFAULT_NAMESPACE)) {
      GetNamespaceRequest request =
          GetNamespaceRequest.newBuilder().setNamespace(namespace).build();
      call(() -> namespaces().getNamespace(request));
    }
  }

  /** Finds a schedule by id or name. */
  WorkflowSchedule schedule(String nameOrId) {
    GetWorkflowScheduleRequest.Builder request =
        GetWorkflowScheduleRequest.newBuilder().setNamespace(namespace);
    if (UUID.matcher(nameOrId).matches()) {
      request.setScheduleId(nameOrId.toLowerCase(Locale.ROOT));
    } else {
      request.setName(nameOrId);
    }
    return call(() -> schedules().getWorkflowSchedule(request.build())).getSchedule();
  }

  /**
   * Returns the id of a schedule. An id is returned without a call, because a deleted schedule can
   * only be named by its id.
   */
  String scheduleId(String nameOrId) {
    return UUID.matcher(nameOrId).matches()
        ? nameOrId.toLowerCase(Locale.ROOT)
        : schedule(nameOrId).getScheduleId();
  }

  /** Returns the run id for a run id or an external id; see {@link #run}. */
  String runId(String run) {
    return run(run).getRunId();
  }

  /**
   * Finds a run by its run id, or by its external id, which may look like a run id. For an unknown
   * run id, returns a run that has only the id, so that the next call reports it.
   */
  Workflow run(String run) {
    if (!UUID.matcher(run).matches()) {
      return call(() -> byExternalId(run));
    }
    String id = run.toLowerCase(Locale.ROOT);
    return call(
        () ->
            ifFound(() -> WorkflowGet.request(this, id))
                .or(() -> ifFound(() -> byExternalId(run)))
                .orElseGet(() -> Workflow.newBuilder().setRunId(id).build()));
  }

  /** Returns the history of a run as JSON. */
  String history(String runId) {
    try (Kagzi kagzi = client.namespace(namespace).connect()) {
      return kagzi.history(runId).toJson();
    } catch (KagziException e) {
      throw new CliException(String.valueOf(e.getMessage()), e);
    }
  }

  private Workflow byExternalId(String externalId) {
    GetWorkflowByExternalIdRequest request =
        GetWorkflowByExternalIdRequest.newBuilder()
            .setNamespace(namespace)
            .setExternalId(externalId)
            .build();
    return workflows().getWorkflowByExternalId(request).getWorkflow();
  }

  /** Whether this may be a run id. */
  static boolean isRunId(String text) {
    return UUID.matcher(text).matches();
  }

  /** Returns the answer, or empty if it is NOT_FOUND. */
  static <T> Optional<T> ifFound(Supplier<T> query) {
    try {
      return Optional.of(query.get());
    } catch (StatusRuntimeException e) {
      if (e.getStatus().getCode() != Status.Code.NOT_FOUND) {
        throw e;
      }
      return Optional.empty();
    }
  }

  /** Makes a call; throws errors as {@link CliException} with one line. */
  <T> T call(Supplier<T> call) {
    try {
      return call.get();
    } catch (StatusRuntimeException e) {
      throw explain(e);
    }
  }

  /** Returns the code of the server's error, as docs/errors.md lists it; empty if it sent none. */
  static String errorCode(CliException failed) {
    ErrorDetail detail =
        failed.getCause() instanceof StatusRuntimeException status ? errorDetail(status) : null;
    return detail == null ? "" : detail.getMetadataOrDefault("code", "");
  }

  private CliException explain(StatusRuntimeException failure) {
    ErrorDetail detail = errorDetail(failure);
    return switch (failure.getStatus().getCode()) {
      case UNAVAILABLE, DEADLINE_EXCEEDED ->
          new CliException(
              ExitCode.UNREACHABLE,
              detail == null ? unreachable(failure) : describe(failure, detail),
              failure);
      case NOT_FOUND ->
          new CliException(
              ExitCode.NOT_FOUND, describe(failure, detail) + otherNamespace(detail), failure);
      case UNAUTHENTICATED ->
          new CliException(
              describe(failure, detail) + "; set the token with --token-file or KAGZI_TOKEN",
              failure);
      default -> new CliException(describe(failure, detail), failure);
    };
  }

  private static String otherNamespace(@Nullable ErrorDetail detail) {
    return detail != null && detail.getSubject().startsWith("run")
        ? "; --namespace NAME searches another one, and `kagzi namespace list` lists them"
        : "";
  }

  private String unreachable(StatusRuntimeException failure) {
    boolean connected = failure.getStatus().getCode() == Status.Code.UNAVAILABLE;
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      connected &= !(cause instanceof ConnectException);
      if (cause instanceof UnknownHostException || cause instanceof UnresolvedAddressException) {
        return "server: %s: no such host (expected: --address HOST:PORT)".formatted(address);
      }
      if (cause instanceof SSLException) {
        return "server: %s: %s (expected: a server with TLS, and a certificate for that name that %s)"
            .formatted(address, certificateProblem(cause), "--tls-ca or the JVM trusts");
      }
    }
    if (connected) {
      return "server: %s ended the connection (expected: a Kagzi server; --tls if it requires TLS)"
          .formatted(address);
    }
    return "server: "
        + address
        + " does not answer (expected: a running server there, or --address HOST:PORT)";
  }

  /**
   * Returns the message of the innermost certificate error; if there is none, that of the
   * exception.
   */
  private static String certificateProblem(Throwable tls) {
    String problem = String.valueOf(tls.getMessage());
    for (Throwable cause = tls.getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof GeneralSecurityException) {
        problem = "certificate: " + cause.getMessage();
      }
    }
    return problem;
  }

  private static String describe(StatusRuntimeException failure, @Nullable ErrorDetail detail) {
    if (detail != null) {
      String code = detail.getMetadataOrDefault("code", "");
      return detail.getMessage() + (code.isEmpty() ? "" : " [" + code + "]");
    }
    String description = failure.getStatus().getDescription();
    return description == null ? failure.getStatus().getCode().name() : description;
  }

  /** Returns the server's error detail; null if no Kagzi server answered. */
  private static @Nullable ErrorDetail errorDetail(StatusRuntimeException failure) {
    com.google.rpc.Status status = StatusProto.fromThrowable(failure);
    if (status == null) {
      return null;
    }
    for (Any detail : status.getDetailsList()) {
      if (detail.is(ErrorDetail.class)) {
        try {
          return detail.unpack(ErrorDetail.class);
        } catch (InvalidProtocolBufferException e) {
          return null;
        }
      }
    }
    return null;
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
