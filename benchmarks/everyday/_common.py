"""What the programs of this folder share: seeds, inputs and cases, as those of the packages beside it have them."""
import importlib.util
import os

_path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "public", "_common.py")
_spec = importlib.util.spec_from_file_location("_public_common", _path)
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
globals().update({name: value for name, value in vars(_module).items() if not name.startswith("_")})
