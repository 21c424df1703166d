package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.kagzi.protocol.v1.ErrorDetail;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Asserts how calls are refused. */
final class CallErrors {
  private CallErrors() {}

  /** Makes a call that must be refused with this code, and returns the error detail. */
  static ErrorDetail refused(Status.Code code, ThrowingCallable call) {
    StatusRuntimeException error = catchThrowableOfType(StatusRuntimeException.class, call);
    assertThat(error).isNotNull();
    assertThat(error.getStatus().getCode()).as(error.getMessage()).isEqualTo(code);
    return detail(error);
  }

  static ErrorDetail detail(StatusRuntimeException error) {
    com.google.rpc.Status status = StatusProto.fromThrowable(error);
    assertThat(status).isNotNull();
    assertThat(status.getDetailsList()).hasSize(1);
    assertThat(status.getMessage()).isEqualTo(error.getStatus().getDescription());
    try {
      return status.getDetails(0).unpack(ErrorDetail.class);
    } catch (InvalidProtocolBufferException e) {
      throw new AssertionError(e);
    }
  }
}
