package dev.kagzi.server.grpc;

import dev.kagzi.engine.namespace.NamespaceUpdate;
import dev.kagzi.engine.namespace.Namespaces;
import dev.kagzi.protocol.v1.CreateNamespaceRequest;
import dev.kagzi.protocol.v1.CreateNamespaceResponse;
import dev.kagzi.protocol.v1.DisableNamespaceRequest;
import dev.kagzi.protocol.v1.DisableNamespaceResponse;
import dev.kagzi.protocol.v1.EnableNamespaceRequest;
import dev.kagzi.protocol.v1.EnableNamespaceResponse;
import dev.kagzi.protocol.v1.GetNamespaceRequest;
import dev.kagzi.protocol.v1.GetNamespaceResponse;
import dev.kagzi.protocol.v1.ListNamespacesRequest;
import dev.kagzi.protocol.v1.ListNamespacesResponse;
import dev.kagzi.protocol.v1.NamespaceServiceGrpc.NamespaceServiceImplBase;
import dev.kagzi.protocol.v1.UpdateNamespaceRequest;
import dev.kagzi.protocol.v1.UpdateNamespaceResponse;
import io.grpc.stub.StreamObserver;

final class NamespaceEndpoint extends NamespaceServiceImplBase {
  private final BlockingCalls blocking;
  private final Namespaces namespaces;

  NamespaceEndpoint(GrpcContext context) {
    this.blocking = context.blocking();
    this.namespaces = context.engine().namespaces();
  }

  @Override
  public void createNamespace(
      CreateNamespaceRequest request, StreamObserver<CreateNamespaceResponse> caller) {
    // The name is required here: an empty one does not mean the default namespace.
    blocking.answer(
        caller,
        () ->
            namespaces.create(
                request.getNamespace(),
                request.getDisplayName(),
                request.getDescription(),
                request.hasRetentionMs() ? request.getRetentionMs() : null,
                Arguments.requestId(request.getRequestId())),
        created ->
            CreateNamespaceResponse.newBuilder()
                .setNamespace(ResponseMapper.namespace(created))
                .build());
  }

  @Override
  public void getNamespace(
      GetNamespaceRequest request, StreamObserver<GetNamespaceResponse> caller) {
    blocking.answer(
        caller,
        () -> namespaces.get(Arguments.namespace(request.getNamespace())),
        found ->
            GetNamespaceResponse.newBuilder()
                .setNamespace(ResponseMapper.namespace(found))
                .build());
  }

  @Override
  public void listNamespaces(
      ListNamespacesRequest request, StreamObserver<ListNamespacesResponse> caller) {
    blocking.answer(
        caller,
        () -> namespaces.list(Arguments.page(request.getPage())),
        page ->
            ListNamespacesResponse.newBuilder()
                .setPage(ResponseMapper.page(page))
                .addAllNamespaces(ResponseMapper.items(page, ResponseMapper::namespace))
                .build());
  }

  @Override
  public void updateNamespace(
      UpdateNamespaceRequest request, StreamObserver<UpdateNamespaceResponse> caller) {
    blocking.answer(
        caller,
        () ->
            namespaces.update(
                Arguments.namespace(request.getNamespace()),
                new NamespaceUpdate(
                    request.hasDisplayName() ? request.getDisplayName() : null,
                    request.hasDescription() ? request.getDescription() : null,
                    request.getClearFailureHandler(),
                    request.hasRetentionMs() ? request.getRetentionMs() : null,
                    request.getClearRetention()),
                Arguments.requestId(request.getRequestId())),
        now ->
            UpdateNamespaceResponse.newBuilder()
                .setNamespace(ResponseMapper.namespace(now))
                .build());
  }

  @Override
  public void enableNamespace(
      EnableNamespaceRequest request, StreamObserver<EnableNamespaceResponse> caller) {
    blocking.answer(
        caller,
        () ->
            namespaces.setEnabled(
                Arguments.namespace(request.getNamespace()),
                true,
                Arguments.requestId(request.getRequestId())),
        now ->
            EnableNamespaceResponse.newBuilder()
                .setNamespace(ResponseMapper.namespace(now))
                .build());
  }

  @Override
  public void disableNamespace(
      DisableNamespaceRequest request, StreamObserver<DisableNamespaceResponse> caller) {
    blocking.answer(
        caller,
        () ->
            namespaces.setEnabled(
                Arguments.namespace(request.getNamespace()),
                false,
                Arguments.requestId(request.getRequestId())),
        now ->
            DisableNamespaceResponse.newBuilder()
                .setNamespace(ResponseMapper.namespace(now))
                .build());
  }
}
