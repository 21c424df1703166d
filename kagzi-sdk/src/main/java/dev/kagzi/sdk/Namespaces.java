package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.CreateNamespaceRequest;
import dev.kagzi.protocol.v1.DisableNamespaceRequest;
import dev.kagzi.protocol.v1.EnableNamespaceRequest;
import dev.kagzi.protocol.v1.GetNamespaceRequest;
import dev.kagzi.protocol.v1.ListNamespacesRequest;
import dev.kagzi.protocol.v1.ListNamespacesResponse;
import dev.kagzi.protocol.v1.NamespaceServiceGrpc;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.UpdateNamespaceRequest;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Creates, changes and lists namespaces, independent of the client's own namespace. Thread-safe.
 *
 * <p>If a namespace does not exist, calls fail with code {@code NOT_FOUND}. {@link #create} fails
 * with {@code ALREADY_EXISTS} if the name exists with another display name, description or
 * retention: {@link RequestRefusedException#code}.
 */
public final class Namespaces {
  private final Connection connection;

  Namespaces(Connection connection) {
    this.connection = connection;
  }

  /** Like {@link #create(String, String, String)}, without display name and description. */
  public NamespaceInfo create(String name) {
    return create(name, "", "");
  }

  /**
   * Creates an enabled namespace. If it exists with the same display name and description and
   * without a retention, returns it unchanged; it may be disabled.
   */
  public NamespaceInfo create(String name, String displayName, String description) {
    CreateNamespaceRequest request =
        CreateNamespaceRequest.newBuilder()
            .setNamespace(name)
            .setDisplayName(displayName)
            .setDescription(description)
            .build();
    return ProtoMapper.namespace(
        connection.call(NamespaceServiceGrpc.getCreateNamespaceMethod(), request).getNamespace());
  }

  /** Returns the namespace. */
  public NamespaceInfo get(String name) {
    GetNamespaceRequest request = GetNamespaceRequest.newBuilder().setNamespace(name).build();
    return ProtoMapper.namespace(
        connection.call(NamespaceServiceGrpc.getGetNamespaceMethod(), request).getNamespace());
  }

  /**
   * Lists all namespaces by name. The call fetches the first page; the others are fetched while the
   * stream is read.
   */
  public Stream<NamespaceInfo> list() {
    return Stream.iterate(
            Optional.of(page("")),
            Optional::isPresent,
            last ->
                last.filter(page -> page.getPage().getHasMore())
                    .map(page -> page(page.getPage().getNextPageToken())))
        .flatMap(page -> page.orElseThrow().getNamespacesList().stream())
        .map(ProtoMapper::namespace);
  }

  private ListNamespacesResponse page(String token) {
    ListNamespacesRequest request =
        ListNamespacesRequest.newBuilder()
            .setPage(PageRequest.newBuilder().setPageSize(100).setPageToken(token))
            .build();
    return connection.call(NamespaceServiceGrpc.getListNamespacesMethod(), request);
  }

  /** Changes the display name and the description. */
  public NamespaceInfo describe(String name, String displayName, String description) {
    return update(
        UpdateNamespaceRequest.newBuilder()
            .setNamespace(name)
            .setDisplayName(displayName)
            .setDescription(description));
  }

  /** Sets how long runs are kept after they end; zero means forever. */
  public NamespaceInfo retention(String name, Duration retention) {
    return update(
        UpdateNamespaceRequest.newBuilder()
            .setNamespace(name)
            .setRetentionMs(retention.toMillis()));
  }

  /** Resets the retention to the server's default. */
  public NamespaceInfo defaultRetention(String name) {
    return update(UpdateNamespaceRequest.newBuilder().setNamespace(name).setClearRetention(true));
  }

  /**
   * Removes the registration of the handler of all failures ({@link WorkerBuilder#onAnyFailure}).
   * Failures do not start it until a worker registers one again.
   */
  public NamespaceInfo clearFailureHandler(String name) {
    return update(
        UpdateNamespaceRequest.newBuilder().setNamespace(name).setClearFailureHandler(true));
  }

  private NamespaceInfo update(UpdateNamespaceRequest.Builder request) {
    return ProtoMapper.namespace(
        connection
            .call(NamespaceServiceGrpc.getUpdateNamespaceMethod(), request.build())
            .getNamespace());
  }

  /** Enables the namespace: it accepts starts and dispatches work again. */
  public NamespaceInfo enable(String name) {
    EnableNamespaceRequest request = EnableNamespaceRequest.newBuilder().setNamespace(name).build();
    return ProtoMapper.namespace(
        connection.call(NamespaceServiceGrpc.getEnableNamespaceMethod(), request).getNamespace());
  }

  /**
   * Disables the namespace: clients and schedules cannot start runs, and no run is dispatched to a
   * worker. Runs that a worker holds continue and can still start children, which wait.
   */
  public NamespaceInfo disable(String name) {
    DisableNamespaceRequest request =
        DisableNamespaceRequest.newBuilder().setNamespace(name).build();
    return ProtoMapper.namespace(
        connection.call(NamespaceServiceGrpc.getDisableNamespaceMethod(), request).getNamespace());
  }
}
