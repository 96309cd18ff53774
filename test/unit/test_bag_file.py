"""Files of bags."""

import pytest

from grouser.physics.base.errors import ParameterError
from grouser.recording.bag_file import BagWriter


def test_bag_whose_file_cannot_be_made_leaves_no_folder(tmp_path):
    """A folder's name may have 255 letters, that of the file in it is longer."""
    folder = tmp_path / ("b" * 253)
    with pytest.raises(ParameterError, match="a folder in which a file can be made"):
        BagWriter(folder)
    assert not folder.exists()
