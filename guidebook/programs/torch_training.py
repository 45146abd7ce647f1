"""A PyTorch/XLA training step

torch_xla records operations. It compiles them together when a value is needed, or at the end of a step.
"""

import torch
import torch_xla

# step: Find the device
device = torch_xla.device()

# step: Put tensors on the device
weights = torch.ones(4, 4, requires_grad=True, device=device)
x = torch.arange(8, dtype=torch.float32).reshape(2, 4).to(device)

# step: The first step
# Nothing runs before `sync`. Then one program runs all operations.
loss = torch.tanh(x @ weights).sum()
loss.backward()
torch_xla.sync()

# step: The second step
weights.grad = None
loss = torch.tanh(x @ weights).sum()
loss.backward()
torch_xla.sync()

# step: Fetch a value
print(loss.item(), weights.grad.cpu().shape)
