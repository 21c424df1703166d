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
 * The namespaces of the servers, whichever the client itself works in. Thread-safe.
 *
 * <p>A name that there is not is refused with {@code NOT_FOUND}, one that is taken with {@code
 * ALREADY_EXISTS}: {@link RequestRefusedException#code}.
 */
public final class Namespaces {
  private final Connection connection;

  Namespaces(Connection connection) {
    this.connection = connection;
  }

  /** A new one, enabled. */
  public NamespaceInfo create(String name) {
    return create(name, "", "");
  }

  /** A new one, enabled. */
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

  public NamespaceInfo get(String name) {
    GetNamespaceRequest request = GetNamespaceRequest.newBuilder().setNamespace(name).build();
    return ProtoMapper.namespace(
        connection.call(NamespaceServiceGrpc.getGetNamespaceMethod(), request).getNamespace());
  }

  /** All of them by name, fetched page by page as the stream is read. */
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

  /** Says what it is called and what it is for. */
  public NamespaceInfo describe(String name, String displayName, String description) {
    return update(
        UpdateNamespaceRequest.newBuilder()
            .setNamespace(name)
            .setDisplayName(displayName)
            .setDescription(description));
  }

  /** How long its runs are kept after their end; zero: for ever. */
  public NamespaceInfo retention(String name, Duration retention) {
    return update(
        UpdateNamespaceRequest.newBuilder()
            .setNamespace(name)
            .setRetentionMs(retention.toMillis()));
  }

  /** From now on its runs are kept as long as the server says. */
  public NamespaceInfo defaultRetention(String name) {
    return update(UpdateNamespaceRequest.newBuilder().setNamespace(name).setClearRetention(true));
  }

  /**
   * Forgets that a handler of all failures was registered: failures from now on start none, until a
   * worker registers one again.
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

  /** It accepts starts and hands out work again. */
  public NamespaceInfo enable(String name) {
    EnableNamespaceRequest request = EnableNamespaceRequest.newBuilder().setNamespace(name).build();
    return ProtoMapper.namespace(
        connection.call(NamespaceServiceGrpc.getEnableNamespaceMethod(), request).getNamespace());
  }

  /** It accepts no start and hands out no work; what runs, runs on. */
  public NamespaceInfo disable(String name) {
    DisableNamespaceRequest request =
        DisableNamespaceRequest.newBuilder().setNamespace(name).build();
    return ProtoMapper.namespace(
        connection.call(NamespaceServiceGrpc.getDisableNamespaceMethod(), request).getNamespace());
  }
}
